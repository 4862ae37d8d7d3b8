import Foundation
import SoraSDK
import SoraSignaling
import Synchronization
import Testing
import WebRTC

/// A list that other threads fill and a test waits on.
final class Recorder<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var waiters:
      [(condition: ([Element]) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
        []
  }

  private let state = Mutex(State())

  var elements: [Element] { state.withLock { $0.elements } }

  func append(_ element: Element) {
    let ready = state.withLock { state in
      state.elements.append(element)
      let elements = state.elements
      let ready = state.waiters.filter { $0.condition(elements) }.map(\.continuation)
      state.waiters.removeAll { $0.condition(elements) }
      return ready
    }
    for continuation in ready { continuation.resume() }
  }

  /// Waits until the elements satisfy a condition; gives up when the test's time is over.
  func wait(until condition: @escaping @Sendable ([Element]) -> Bool) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          let isReady = condition(state.elements) || Task.isCancelled
          if !isReady { state.waiters.append((condition, continuation)) }
          return isReady
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      let waiters = state.withLock { state in
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter.continuation.resume() }
    }
  }

  func wait(for count: Int) async { await wait { $0.count >= count } }
}

/// The two spellings of the API.
enum Face: String, CaseIterable, Sendable {
  case handlers, tasks
}

/// A connection attempt with everything that was told about it, in order.
final class Attempt: Sendable {
  let sora: Sora
  let log = Recorder<String>()
  let channels = Recorder<MediaChannel>()
  let outcome = Recorder<Result<MediaChannel, any Error>>()
  private let cancellation = Mutex<(@Sendable () -> Void)?>(nil)

  init(_ configuration: Configuration, face: Face, sora: Sora = Sora()) {
    self.sora = sora
    let log = log
    sora.handlers.onAddMediaChannel = { [channels] channel in
      log.append("add")
      channels.append(channel)
    }
    sora.handlers.onRemoveMediaChannel = { _ in log.append("remove") }
    sora.handlers.onConnect = { log.append("sora.connect \(Self.text($1, $0))") }
    sora.handlers.onDisconnect = { log.append("sora.disconnect \(Self.text($1))") }
    let handlers = configuration.mediaChannelHandlers
    handlers.onConnect = { log.append("channel.connect \(Self.text($0))") }
    handlers.onDisconnect = { log.append("channel.disconnect \(Self.text($0))") }
    handlers.onAddStream = { log.append("stream+ \($0.streamId)") }
    handlers.onRemoveStream = { log.append("stream- \($0.streamId)") }
    handlers.onReceiveSignaling = { log.append("signaling \($0.typeName())") }
    let outcome = outcome
    switch face {
    case .handlers:
      let task = sora.connect(configuration: configuration) { channel, error in
        log.append("handler \(Self.text(error, channel))")
        outcome.append(
          channel.map { .success($0) } ?? .failure(error ?? SoraError.connectionCancelled))
      }
      cancellation.withLock { $0 = { task.cancel() } }
    case .tasks:
      let task = Task {
        do {
          outcome.append(.success(try await sora.connect(configuration: configuration)))
        } catch {
          outcome.append(.failure(error))
        }
      }
      cancellation.withLock { $0 = { task.cancel() } }
    }
  }

  func cancel() { cancellation.withLock { $0 }?() }

  /// How it ended.
  func result() async throws -> Result<MediaChannel, any Error> {
    await outcome.wait(for: 1)
    return try #require(outcome.elements.first)
  }

  /// The channel, for an attempt that must succeed.
  func channel() async throws -> MediaChannel { try await result().get() }

  /// The error, for an attempt that must fail.
  func error() async throws -> SoraError {
    switch try await result() {
    case .success:
      Issue.record("the attempt succeeded")
      throw SoraError.messagingError(reason: "succeeded")
    case .failure(let error): return try #require(error as? SoraError)
    }
  }

  /// What was told, once all was: a failed attempt's events, without those about messages and streams.
  func story() async -> [String] {
    await log.wait { $0.contains { $0.hasPrefix("channel.disconnect") } }
    return log.elements.filter { !$0.hasPrefix("signaling") && !$0.hasPrefix("stream") }
  }

  static func text(_ error: (any Error)?, _ channel: MediaChannel? = nil) -> String {
    let text = error.map { "\($0)".prefix { $0 != "(" } }.map(String.init) ?? "nil"
    return channel == nil ? text : "channel, \(text)"
  }
}

/// A server that says what a test wants.
final class ScriptedSora: Sendable {
  typealias Script = @Sendable (WebSocketConnection, SignalingMessage) async throws -> Void

  let server: SignalingServer
  /// Everything that clients sent, over all connections.
  let received: Recorder<SignalingMessage>
  let closed: Recorder<WebSocketClose>

  /// - Parameter script: gets each message of a client, one after the other.
  init(
    tls: TLSOptions.Identity? = nil, _ script: @escaping Script = { _, _ in }
  ) async throws {
    let received = Recorder<SignalingMessage>()
    let closed = Recorder<WebSocketClose>()
    // With time for clients that wait for a thread among hundreds of tests.
    var configuration = SignalingServer.Configuration(requestTimeout: .seconds(120))
    configuration.tls = tls
    server = try await SignalingServer.start(configuration: configuration) { connection in
      Task {
        for await event in connection.messages {
          switch event {
          case .text(let text):
            guard let message = try? SignalingMessage(parsing: text) else { continue }
            received.append(message)
            do {
              try await script(connection, message)
            } catch {
              Issue.record(error, "\(connection.remoteAddress) said \(message)")
            }
            // As Sora does.
            if case .disconnect = message { connection.close(reason: "TYPE-DISCONNECT") }
          case .closed(let close): closed.append(close)
          case .binary: break
          }
        }
      }
    }
    self.received = received
    self.closed = closed
  }

  /// Answers `connect` with a far end's offer, and has it take part in what follows.
  convenience init(_ far: FarEnd) async throws {
    try await self.init { connection, message in
      if case .connect = message { connection.send(far.offer()) }
      try await far.handle(message)
    }
  }

  var url: String { "ws://127.0.0.1:\(server.boundPort)/signaling" }

  func configuration(_ role: Role = .sendonly) -> Configuration {
    var configuration = Configuration(url: URL(string: url)!, channelId: "test", role: role)
    // Of the machine that the tests run on.
    configuration.cameraSettings.isEnabled = false
    return configuration
  }

  func connects() -> [ConnectMessage] {
    received.elements.compactMap { if case .connect(let message) = $0 { message } else { nil } }
  }

  /// Waits for a message of a type.
  func wait(for type: String) async { await received.wait { $0.contains { $0.typeName == type } } }
}

/// The other end of a call: a peer connection in the place of Sora's media.
final class FarEnd: Sendable {
  let peer: RTCPeerConnection
  let mids: [String: String]
  /// The data channels that it has opened, by label.
  let channels: [String: RTCDataChannel]
  /// Types of the messages that were acted on.
  let handled = Recorder<String>()

  /// - Parameters:
  ///   - receives: whether it wants audio and video from the client.
  ///   - labels: of data channels that it opens.
  init(receives: Bool, labels: [String] = []) async throws {
    let factory = RTCPeerConnectionFactory()
    let peer = try #require(factory.peerConnection(with: RTCConfiguration()))
    self.peer = peer
    channels = Dictionary(
      uniqueKeysWithValues: try labels.map { label in
        let configuration = RTCDataChannelConfiguration()
        return (
          label, try #require(peer.dataChannel(forLabel: label, configuration: configuration))
        )
      })
    for kind in [RTCRtpMediaType.audio, .video] {
      try await peer.addTransceiver(of: kind, direction: receives ? .recvOnly : .sendOnly)
    }
    try await peer.setLocalDescription(peer.offer())
    var mids: [String: String] = [:]
    var kind = ""
    for line in peer.localDescription?.sdp.split(whereSeparator: \.isNewline) ?? [] {
      if line.hasPrefix("m=") { kind = String(line.dropFirst(2).prefix { $0 != " " }) }
      if line.hasPrefix("a=mid:"), kind != "application" { mids[kind] = String(line.dropFirst(6)) }
    }
    self.mids = mids
  }

  var sdp: String { peer.localDescription?.sdp ?? "" }

  func offer(_ change: (inout OfferMessage) -> Void = { _ in }) -> SignalingMessage {
    .offer(
      OfferMessage(sdp: sdp, connectionID: "CONNECTION") {
        $0.clientID = "CLIENT"
        $0.bundleID = "BUNDLE"
        $0.configuration = .init(iceServers: [], iceTransportPolicy: "all")
        $0.mid = mids
        change(&$0)
      })
  }

  func handle(_ message: SignalingMessage) async throws {
    switch message {
    case .answer(let answer):
      try await peer.setRemoteDescription(RTCSessionDescription(type: .answer, sdp: answer.sdp))
    case .reAnswer(let answer):
      try await peer.setRemoteDescription(RTCSessionDescription(type: .answer, sdp: answer.sdp))
    case .candidate(let candidate):
      try await peer.add(RTCIceCandidate(sdp: candidate.candidate))
    default: break
    }
    handled.append(message.typeName)
  }

  /// A new offer with one more stream.
  func reOffer(stream: String) async throws -> SignalingMessage {
    let factory = RTCPeerConnectionFactory()
    let source = factory.videoSource()
    try await peer.addTransceiver(
      of: .video, direction: .sendOnly,
      track: factory.videoTrack(with: source, trackId: "\(stream)-video"), streamIds: [stream])
    try await peer.setLocalDescription(peer.offer())
    return .reOffer(ReOfferMessage(sdp: sdp))
  }
}
