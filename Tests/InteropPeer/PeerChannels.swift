import Foundation
import SoraClock
import SoraCommandSupport
import SoraMedia
import Synchronization
import WebRTC

/// The data channels of a connection, by label: what they do at requests, and what they tell.
///
/// Bulk is made and checked here, as JSON isn't a way for gigabytes: byte `n` of message `m` is `n * 31 + m`, and what came is summed up
/// by CRC-32 over all bytes.
final class PeerChannels: RTCDataChannelDelegate, Sendable {
  private struct State: Sendable {
    var channels: [String: RTCDataChannel] = [:]
    var received: [String: Received] = [:]
    /// Labels whose messages are counted and not told.
    var quiet: Set<String> = []
    /// Labels whose messages go back.
    var echoing: Set<String> = []
  }

  private struct Received: Sendable {
    var messages = 0
    var bytes = 0
    var sum = Checksum()
  }

  private let state = Mutex(State())
  private let connection: RTCPeerConnection

  init(_ connection: RTCPeerConnection) { self.connection = connection }

  /// Takes a channel that the other end has made. Where its label begins with "echo ", its messages go back.
  func adopt(_ channel: RTCDataChannel) {
    if channel.label.hasPrefix(Self.echo) {
      state.withLock { _ = $0.echoing.insert(channel.label) }
    }
    add(channel)
  }

  private static let echo = "echo "

  private func add(_ channel: RTCDataChannel) {
    state.withLock { $0.channels[channel.label] = channel }
    channel.delegate = self
  }

  func perform(_ request: ChannelRequest) async throws {
    let label = request.label
    switch request.action {
    case .open:
      let configuration = RTCDataChannelConfiguration()
      configuration.isOrdered = request.ordered ?? true
      configuration.maxRetransmits = request.maxRetransmits ?? -1
      configuration.maxPacketLifeTime = request.maxPacketLifeTime ?? -1
      configuration.protocol = request.protocol ?? ""
      configuration.isNegotiated = request.id != nil
      configuration.channelId = request.id ?? -1
      guard let channel = connection.dataChannel(forLabel: label, configuration: configuration)
      else { throw PeerRefusal(description: "the channel \(label) can't be made") }
      add(channel)
    case .send:
      let message =
        request.text.map { RTCDataBuffer(text: $0) }
        ?? RTCDataBuffer(data: Data(base64Encoded: request.base64 ?? "") ?? Data(), isBinary: true)
      guard try channel(label).sendData(message) else {
        throw PeerRefusal(description: "the channel \(label) didn't take the message")
      }
    case .bulk: try await sendBulk(request, on: channel(label))
    case .openings: try await timeOpenings(request.count ?? 1)
    case .quiet: state.withLock { _ = $0.quiet.insert(label) }
    case .close: try channel(label).close()
    case .report: try report(label)
    }
  }

  private func channel(_ label: String) throws -> RTCDataChannel {
    guard let channel = state.withLock({ $0.channels[label] }) else {
      throw PeerRefusal(description: "there is no channel \(label)")
    }
    return channel
  }

  private func sendBulk(_ request: ChannelRequest, on channel: RTCDataChannel) async throws {
    let size = request.size ?? 65_536
    var sum = Checksum()
    let count = request.count ?? 1
    for number in 0..<count {
      let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
      sum.add(bytes)
      try await channel.send(RTCDataBuffer(data: bytes, isBinary: true))
    }
    JSONLines.write(["type": "bulkSent", "label": channel.label, "sum": Int(sum.value)])
  }

  /// From making a channel until a message has gone there and back, again and again.
  private func timeOpenings(_ count: Int) async throws {
    var times: [Double] = []
    for number in 0..<count {
      let first = FirstEcho()
      let start = SystemClock.now
      guard
        let channel = connection.dataChannel(
          forLabel: "\(Self.echo)\(number)", configuration: RTCDataChannelConfiguration())
      else { throw PeerRefusal(description: "no channel can be made") }
      channel.delegate = first
      await first.wait()
      times.append((SystemClock.now - start).inSeconds * 1000)
      channel.close()
    }
    JSONLines.write(["type": "openings", "milliseconds": times])
  }

  private func report(_ label: String) throws {
    let channel = try channel(label)
    let received = state.withLock { $0.received[label] ?? Received() }
    JSONLines.write([
      "type": "channel", "label": label, "state": "\(channel.readyState)",
      "id": Int(channel.channelId),
      "ordered": channel.isOrdered, "protocol": channel.protocol,
      "maxRetransmits": Int(channel.maxRetransmits),
      "maxPacketLifeTime": Int(channel.maxPacketLifeTime),
      "buffered": Int(channel.bufferedAmount), "messages": received.messages,
      "bytes": received.bytes,
      "sum": Int(received.sum.value),
    ])
  }

  // MARK: Delegate

  func dataChannelDidChangeState(_ channel: RTCDataChannel) {
    JSONLines.write([
      "type": "channelState", "label": channel.label, "state": "\(channel.readyState)",
    ])
  }

  func dataChannel(_ channel: RTCDataChannel, didReceiveMessageWith buffer: RTCDataBuffer) {
    let label = channel.label
    if state.withLock({ $0.echoing.contains(label) }) {
      channel.sendData(buffer)
      return
    }
    let isQuiet = state.withLock { state in
      state.received[label, default: Received()].messages += 1
      state.received[label, default: Received()].bytes += buffer.data.count
      state.received[label, default: Received()].sum.add(buffer.data)
      return state.quiet.contains(label)
    }
    guard !isQuiet else { return }
    JSONLines.write([
      "type": "message", "label": label, "binary": buffer.isBinary,
      "base64": buffer.data.base64EncodedString(),
    ])
  }
}

/// Says something on a channel when that is open, and waits for the answer.
private final class FirstEcho: RTCDataChannelDelegate, Sendable {
  private let (answers, answered) = AsyncStream.makeStream(of: Void.self)

  func wait() async { for await _ in answers { break } }

  func dataChannelDidChangeState(_ channel: RTCDataChannel) {
    switch channel.readyState {
    case .open: channel.sendData(RTCDataBuffer(text: "x"))
    case .closed: answered.finish()
    default: break
    }
  }

  func dataChannel(_: RTCDataChannel, didReceiveMessageWith _: RTCDataBuffer) { answered.yield() }
}

/// CRC-32 as zlib has it, which Python computes quickly, and browsers with little code.
struct Checksum: Sendable {
  private static let table = (0..<256 as Range<UInt32>).map { index in
    (0..<8).reduce(index) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
  }

  private(set) var value: UInt32 = 0

  mutating func add(_ bytes: Data) {
    var register = ~value
    Self.table.withUnsafeBufferPointer { table in
      bytes.withUnsafeBytes { bytes in
        for byte in bytes {
          register = register >> 8 ^ table[Int(UInt8(truncatingIfNeeded: register) ^ byte)]
        }
      }
    }
    value = ~register
  }
}

/// What is asked of a channel.
struct ChannelRequest: Decodable {
  enum Action: String, Decodable {
    /// Makes a channel, with `id` where both ends do.
    case open
    /// Sends `text`, or the bytes of `base64`.
    case send
    /// Sends `count` messages of `size` bytes, as fast as there is room; told by `bulkSent`.
    case bulk
    /// Opens `count` channels, one after the other, each until its first message has come back; told by `openings`.
    case openings
    /// Messages are counted from now on, and not told.
    case quiet
    case close
    /// Asks for `channel`: what it is, and what came.
    case report
  }

  var action: Action
  var label: String
  var ordered: Bool?
  var maxRetransmits: Int32?
  var maxPacketLifeTime: Int32?
  var `protocol`: String?
  var id: Int32?
  var text: String?
  var base64: String?
  var size: Int?
  var count: Int?
}
