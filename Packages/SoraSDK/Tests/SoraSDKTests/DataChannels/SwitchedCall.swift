import Foundation
import SoraSDK
import SoraSignaling
import Testing
import WebRTC

/// A call with a server that has data channels. It closes them where the client says `disconnect` on one, as Sora does.
final class SwitchedCall: Sendable {
  struct Message: Sendable {
    let label: String
    let buffer: RTCDataBuffer

    var json: JSONValue? { try? JSONValue(parsing: Array(buffer.data)) }
    var type: String? { json?["type"]?.stringValue }
  }

  static let systemLabels = ["signaling", "notify", "push", "stats", "rpc"]

  let far: FarEnd
  /// That the offer lists, and that are opened.
  private let labels: [String]
  let server: ScriptedSora
  let attempt: Attempt
  let channel: MediaChannel
  let connection: WebSocketConnection
  /// What the client sent on data channels.
  let received = Recorder<Message>()
  /// What the client's handlers were told: label and bytes.
  let told: Recorder<(String, Data)>

  /// Connects; the server has not switched yet, and its channels may not be open yet.
  ///
  /// - Parameters:
  ///   - options: of labels that the offer lists, beside those of signaling.
  ///   - unlisted: labels that are opened all the same.
  ///   - unopened: labels that the offer lists, and that are never opened.
  init(
    _ options: [DataChannelOptions] = [], unlisted: [String] = [], unopened: [String] = [],
    role: Role = .recvonly,
    configure: (inout Configuration) -> Void = { _ in },
    offer change: @escaping @Sendable (inout OfferMessage) -> Void = { _ in }
  ) async throws {
    let system = Self.systemLabels.filter { label in !options.contains { $0.label == label } }
    let listed = system.map { DataChannelOptions(label: $0) { $0.compress = false } } + options
    let far = try await FarEnd(receives: role != .recvonly, labels: listed.map(\.label) + unlisted)
    self.far = far
    labels = listed.map(\.label)
    let connections = Recorder<WebSocketConnection>()
    server = try await ScriptedSora { connection, message in
      if case .connect = message {
        connections.append(connection)
        connection.send(
          far.offer {
            $0.dataChannels = listed + unopened.map { DataChannelOptions(label: $0) }
            change(&$0)
          })
      }
      try await far.handle(message)
    }
    var configuration = server.configuration(role)
    configuration.dataChannelSignaling = true
    configure(&configuration)
    let told = Recorder<(String, Data)>()
    self.told = told
    let handlers = configuration.mediaChannelHandlers
    handlers.onDataChannelMessage = { told.append(($1, $2)) }
    let attempt = Attempt(configuration, face: .handlers)
    self.attempt = attempt
    handlers.onDataChannel = { [log = attempt.log] _ in log.append("data channels") }
    channel = try await attempt.channel()
    connection = try #require(connections.elements.first)
    for channel in far.channels.values {
      Task { [received] in await Self.read(channel, of: far, into: received) }
    }
  }

  private static func read(
    _ channel: RTCDataChannel, of far: FarEnd, into received: Recorder<Message>
  ) async {
    for await buffer in channel.messages {
      let message = Message(label: channel.label, buffer: buffer)
      received.append(message)
      guard channel.label == "signaling",
        let signaling = try? SignalingMessage(parsing: Array(buffer.data))
      else { continue }
      try? await far.handle(signaling)
      if case .disconnect = signaling {
        for channel in far.channels.values { channel.close() }
      }
    }
  }

  func closeChannels() { for channel in far.channels.values { channel.close() } }

  /// Waits until all channels are open.
  func open() async throws {
    for channel in far.channels.values {
      while channel.readyState != .open { try await Task.sleep(for: .milliseconds(2)) }
    }
  }

  /// Switches, and waits until the client has.
  func switchOver(ignoringWebSocket: Bool) async throws {
    try await open()
    connection.send(.switched(SwitchedMessage(ignoreDisconnectWebSocket: ignoringWebSocket)))
    await attempt.log.wait { $0.contains("data channels") }
    // On a busy machine the client may have switched without them.
    for label in labels where label.hasPrefix("#") { try await channel.ready(label: label) }
  }

  func send(_ message: SignalingMessage, on label: String = "signaling") {
    send(message.text, on: label)
  }

  func send(_ text: String, on label: String) {
    #expect(far.channels[label]?.sendData(RTCDataBuffer(text: text)) == true)
  }

  func send(_ bytes: [UInt8], on label: String) {
    #expect(
      far.channels[label]?.sendData(RTCDataBuffer(data: Data(bytes), isBinary: true)) == true)
  }

  /// The first message of a type that the client sent on a data channel.
  func message(_ type: String) async throws -> Message {
    await received.wait { $0.contains { $0.type == type } }
    return try #require(received.elements.first { $0.type == type })
  }

  /// How often the channel's end was told, once it was.
  func ends() async -> [String] {
    await attempt.story().filter { $0.hasPrefix("channel.disconnect") }
  }
}

extension SoraCloseEvent {
  var text: String {
    switch self {
    case .ok(let code, let reason): "\(code) \(reason)"
    case .error(let error): Attempt.text(error)
    }
  }
}
