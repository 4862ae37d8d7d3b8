import SoraDTLS
import SoraICE
import SoraMedia
import SoraServer
import SoraSignaling
import SoraTransport
import Synchronization
import Testing

/// A client on real sockets that answers what it is offered, and keeps all that it is told. It sends VP8 and Opus where it may.
final class ListeningClient: Sendable {
  private let socket: WebSocketConnection
  private let media: LoopBound<ListeningMedia>
  private let heard = Heard()
  private let reader: Task<Void, Never>

  private final class Heard: Sendable {
    let messages = Mutex<[JSONValue]>([])
    let close = Mutex<WebSocketClose?>(nil)
  }

  init(_ url: String, on loop: NetworkLoop) async throws {
    let certificate = try DTLSCertificate.generate()
    let made = await loop.run {
      Result { LoopBound(try ListeningMedia(certificate, on: loop), loop: loop) }
    }
    let media = try made.get()
    self.media = media
    socket = try await WebSocketClient.connect(url: url)
    reader = Task { [socket, heard] in
      for await event in socket.messages {
        switch event {
        case .text(let text):
          guard let message = try? JSONValue(parsing: text) else { continue }
          heard.messages.withLock { $0.append(message) }
          if let reply = await Self.reply(to: message, media) { socket.send(text: reply) }
        case .closed(let close): heard.close.withLock { $0 = close }
        case .binary: continue
        }
      }
    }
  }

  private static func reply(
    to message: JSONValue, _ media: LoopBound<ListeningMedia>
  ) async -> String? {
    switch message["type"]?.stringValue {
    case "offer", "re-offer":
      guard let sdp = message["sdp"]?.stringValue else { return nil }
      var mids: [MediaKind: String] = [:]
      mids[.audio] = message["mid"]?["audio"]?.stringValue
      mids[.video] = message["mid"]?["video"]?.stringValue
      let answer = await media.loop.run { [mids] in try? media.value.answer(sdp, mids: mids) }
      let type: JSONValue = message["type"] == "offer" ? "answer" : "re-answer"
      return answer.map { JSONValue.object(["type": type, "sdp": .string($0)]).text }
    case "ping": return #"{"type":"pong"}"#
    default: return nil
    }
  }

  /// Sends `connect`, and waits until its media can flow.
  ///
  /// - Parameter members: further ones, as JSON text.
  func join(
    _ role: String, _ channel: String = "room", _ members: String = "", dataChannels: Bool = false
  ) async throws {
    socket.send(
      text: #"{"type":"connect","role":"\#(role)","channel_id":"\#(channel)","#
        + #""video":{"codec_type":"VP8"},"data_channel_signaling":\#(dataChannels)"#
        + (members.isEmpty ? "" : ",\(members)") + "}")
    let isThere = await waits { !self.notifications("connection.created").isEmpty }
    try #require(isThere, "\(close as Any)")
  }

  /// All that it was told, in its order.
  var messages: [JSONValue] { heard.messages.withLock { $0 } }

  /// How the server closed its WebSocket; nil before.
  var close: WebSocketClose? { heard.close.withLock { $0 } }

  var offer: JSONValue { messages.first { $0["type"] == "offer" } ?? .null }
  var connectionID: String { offer["connection_id"]?.stringValue ?? "" }

  /// What it was pushed.
  var pushes: [JSONValue] { messages.filter { $0["type"] == "push" }.compactMap { $0["data"] } }

  func notifications(_ type: String) -> [JSONValue] {
    messages.filter { $0["type"] == "notify" && $0["event_type"]?.stringValue == type }
  }

  /// Packets that came of another one's audio or video.
  func received(_ kind: MediaKind, of other: ListeningClient) async -> Int {
    let id = other.connectionID
    return await media.loop.run { [media] in media.value.received(kind, of: id) }
  }

  /// Says something on a data channel; false where there is none of that label.
  func say(_ text: String, on label: String) async -> Bool {
    await media.loop.run { [media] in media.value.say(text, on: label) }
  }

  /// Lets go of everything.
  func finish() async {
    await media.loop.run { [media] in media.value.close() }
    socket.abort()
    await reader.value
  }
}

/// Runs with a server that has an HTTP API, and a loop for clients.
func servingAPI(
  _ configure: (inout SoraServer.Configuration) -> Void = { _ in },
  _ body: (SoraServer, APIClient, NetworkLoop) async throws -> Void
) async throws {
  var configuration = SoraServer.Configuration()
  configuration.mediaAddresses = [.loopbackV4]
  configuration.apiPort = 0
  configure(&configuration)
  let server = try await SoraServer.start(configuration)
  let loop = try NetworkLoop.make()
  defer { loop.shutdown() }
  do {
    try await body(server, APIClient(server.apiURL), loop)
  } catch {
    await server.shutdown()
    throw error
  }
  await server.shutdown()
}
