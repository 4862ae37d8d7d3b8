import Foundation
import Synchronization
import Testing
import WebRTC

/// One end of a call without media: it keeps the channels that the other one opens, and reads none of them by itself.
final class DataParty: RTCPeerConnectionDelegate, Sendable {
  let connection: RTCPeerConnection
  private let opened = Mutex<[RTCDataChannel]>([])
  private let failure = Mutex<(any Error)?>(nil)

  init(_ factory: RTCPeerConnectionFactory, _ change: (inout RTCSettings) -> Void = { _ in }) throws
  {
    var configuration = RTCConfiguration()
    change(&configuration.settings)
    connection = try #require(factory.peerConnection(with: configuration))
    connection.delegate = self
  }

  /// Two that aren't connected yet.
  static func pair(
    _ change: (inout RTCSettings) -> Void = { _ in }
  ) throws -> (DataParty, DataParty) {
    let factory = RTCPeerConnectionFactory()
    return (try DataParty(factory, change), try DataParty(factory, change))
  }

  /// An offer and its answer, and the candidates of both.
  static func negotiate(from a: DataParty, to b: DataParty) async throws {
    try await a.connection.setLocalDescription(a.connection.offer())
    try await b.connection.setRemoteDescription(try #require(a.connection.localDescription))
    try await b.connection.setLocalDescription(b.connection.answer())
    try await a.connection.setRemoteDescription(try #require(b.connection.localDescription))
  }

  /// A channel of this end.
  func open(
    _ label: String, _ change: (RTCDataChannelConfiguration) -> Void = { _ in }
  ) throws -> RTCDataChannel {
    let configuration = RTCDataChannelConfiguration()
    change(configuration)
    return try #require(connection.dataChannel(forLabel: label, configuration: configuration))
  }

  /// The channel with this label that the other end has opened.
  func channel(_ label: String) async throws -> RTCDataChannel {
    while true {
      if let channel = opened.withLock({ $0.first { $0.label == label } }) { return channel }
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  var channelCount: Int { opened.withLock { $0.count } }

  func peerConnection(_: RTCPeerConnection, didOpen dataChannel: RTCDataChannel) {
    opened.withLock { $0.append(dataChannel) }
  }
}

extension RTCDataChannel {
  func waitUntil(_ state: RTCDataChannelState) async throws {
    while readyState != state { try await Task.sleep(for: .milliseconds(2)) }
  }

  /// The next messages.
  func read(_ count: Int) async -> [RTCDataBuffer] {
    var found: [RTCDataBuffer] = []
    for await message in messages {
      found.append(message)
      if found.count == count { break }
    }
    return found
  }
}

/// Notes what a channel tells.
final class ChannelNotes: RTCDataChannelDelegate, Sendable {
  struct Notes: Sendable {
    var states: [RTCDataChannelState] = []
    var messages: [RTCDataBuffer] = []
    var amounts: [UInt64] = []
    var lows = 0
  }

  let notes = Mutex(Notes())
  /// How long each message takes.
  let delay: TimeInterval

  init(delay: TimeInterval = 0) { self.delay = delay }

  func waitUntil(_ condition: (Notes) -> Bool) async throws {
    while !notes.withLock({ condition($0) }) { try await Task.sleep(for: .milliseconds(2)) }
  }

  func dataChannelDidChangeState(_ dataChannel: RTCDataChannel) {
    notes.withLock { $0.states.append(dataChannel.readyState) }
  }
  func dataChannel(_: RTCDataChannel, didReceiveMessageWith buffer: RTCDataBuffer) {
    if delay > 0 { Thread.sleep(forTimeInterval: delay) }
    notes.withLock { $0.messages.append(buffer) }
  }
  func dataChannel(_: RTCDataChannel, didChangeBufferedAmount amount: UInt64) {
    notes.withLock { $0.amounts.append(amount) }
  }
  func dataChannelDidReachLowBufferedAmount(_: RTCDataChannel) { notes.withLock { $0.lows += 1 } }
}
