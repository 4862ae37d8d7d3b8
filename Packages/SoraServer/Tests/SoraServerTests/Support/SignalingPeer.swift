import SoraSignaling
import Testing

/// A WebSocket to a server, and what came over it.
struct SignalingPeer: Sendable {
  enum Event: Sendable {
    case message(JSONValue)
    case closed(WebSocketClose)
  }

  let socket: WebSocketConnection

  /// - Parameter largest: bytes of the largest message that it sends.
  init(_ url: String, largest: Int = SignalingMessage.maximumSize) async throws {
    socket = try await WebSocketClient.connect(
      url: url, options: WebSocketOptions(maximumMessageSize: largest))
  }

  /// Sends `connect`, with further members as JSON text.
  func connect(channel: String = "room", _ members: String = "") {
    socket.send(
      text: #"{"type":"connect","role":"sendrecv","channel_id":"\#(channel)""#
        + (members.isEmpty ? "" : ",\(members)") + "}")
  }

  /// The next message, or how it ended; nil where nothing comes any more.
  func next() async throws -> Event? {
    for await event in socket.messages {
      switch event {
      case .text(let text): return .message(try JSONValue(parsing: text))
      case .closed(let close): return .closed(close)
      case .binary: continue
      }
    }
    return nil
  }

  /// The offer that must come next.
  func offer() async throws -> JSONValue {
    let event = try await next()
    guard case .message(let message)? = event, message["type"] == "offer" else {
      Issue.record("no offer came: \(String(describing: event))")
      return .null
    }
    return message
  }

  /// The end that must come next.
  func close() async throws -> WebSocketClose? {
    let event = try await next()
    guard case .closed(let close)? = event else {
      Issue.record("no end came: \(String(describing: event))")
      return nil
    }
    return close
  }
}
