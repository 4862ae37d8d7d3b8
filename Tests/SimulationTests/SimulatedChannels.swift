import SoraDataChannel
import SoraMedia
import SoraServer
import SoraSignalingChannels
import SoraSignalingMessages
import SoraTransport
import WebRTC

/// A client's data channels: signaling's, which carry JSON, and its app's.
final class SimulatedChannels {
  struct Message: Equatable {
    var label: String
    var payload: [UInt8]
    var isText: Bool
    var text: String { String(decoding: payload, as: UTF8.self) }
  }

  private let core: PeerConnectionCore
  private let take: (SignalingMessage, Instant) -> Void
  /// Labels whose messages are compressed: those of the server's, and more where the app asks for it.
  var compressed: Set = ["signaling", "stats"]
  var isSwitched = false
  private(set) var ids: [String: DataChannelID] = [:]
  /// Of the app, in their order.
  private(set) var messages: [Message] = []
  private(set) var calls: [JSONValue] = []
  /// Called with each message of the app's.
  var onMessage: ((Message, Instant) -> Void)?
  private(set) var log: [String] = []
  private(set) var isOver = false
  /// What didn't go as it should.
  private(set) var errors: [String] = []

  init(_ core: PeerConnectionCore, _ take: @escaping (SignalingMessage, Instant) -> Void) {
    self.core = core
    self.take = take
  }

  func handle(_ event: DataChannelEvent, at now: Instant) {
    switch event {
    case .announced(let id, let parameters, _):
      log.append("+\(parameters.label)")
      ids[parameters.label] = id
    case .message(let id, let message):
      guard let label = ids.first(where: { $0.value == id })?.key else {
        return errors.append("a message on no channel")
      }
      receive(message, on: label, at: now)
    case .closing(let id): core.data.close(id, at: now)
    case .closed(let id, _):
      guard let label = ids.first(where: { $0.value == id })?.key else { return }
      log.append("-\(label)")
      ids[label] = nil
    case .disconnected: isOver = true
    default: break
    }
  }

  private func receive(_ message: DataChannelMessage, on label: String, at now: Instant) {
    do {
      var payload = message.payload
      if compressed.contains(label) {
        payload = try MessageCompression.inflate(payload.span.bytes, limit: 1 << 20)
      }
      log.append(label)
      if SignalingLabel.isMessaging(label) {
        messages.append(Message(label: label, payload: payload, isText: message.isText))
        onMessage?(messages[messages.count - 1], now)
      } else if label == "rpc" {
        calls.append(try JSONValue(parsing: payload))
      } else {
        // Browsers' clients read what isn't compressed as texts alone.
        if message.isText == compressed.contains(label) {
          errors.append("\(label): the wrong kind")
        }
        take(try SignalingMessage(parsing: payload), now)
      }
    } catch {
      errors.append("\(label): \(error)")
    }
  }

  func send(_ json: JSONValue, on label: String, at now: Instant) {
    send(json.bytes, isText: true, on: label, at: now)
  }

  func send(_ payload: [UInt8], isText: Bool = false, on label: String, at now: Instant) {
    guard let id = ids[label] else { return errors.append("no channel \(label)") }
    do {
      if compressed.contains(label) {
        let stream = try MessageCompression.compress(payload.span.bytes)
        try core.data.send(stream.span.bytes, isText: false, on: id, at: now)
      } else {
        try core.data.send(payload.span.bytes, isText: isText, on: id, at: now)
      }
    } catch {
      errors.append("\(label): \(error)")
    }
  }
}

extension SFUMessage {
  /// What a client writes on the data channel `signaling`; nil for what stays on the WebSocket.
  var json: JSONValue? {
    switch self {
    case .reAnswer(let sdp): ["type": "re-answer", "sdp": .string(sdp)]
    case .candidate(let text): ["type": "candidate", "candidate": .string(text)]
    case .disconnect(let reason):
      ["type": "disconnect", "reason": .string(reason ?? "NO-ERROR")]
    default: nil
    }
  }
}
