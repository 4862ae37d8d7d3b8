import SoraDTLS
import SoraMedia
import SoraSignaling
import SoraTransport
import Synchronization

/// A client on real sockets: its WebSocket is read by a task of its own, its media live on a loop.
final class LiveClient: Sendable {
  private let socket: WebSocketConnection
  private let media: LoopBound<LiveMedia>
  private let reader: Task<Void, Never>
  private let habits = Habits()

  /// What it does of what it is asked for.
  private final class Habits: Sendable {
    let answersOffers = Atomic(true)
    let answersPings = Atomic(true)
    let connectionID = Mutex<String?>(nil)
    let notifications = Mutex<[JSONValue]>([])
  }

  init(_ url: String, _ certificate: DTLSCertificate, on loop: NetworkLoop) async throws {
    let made = await loop.run {
      Result { LoopBound(try LiveMedia(certificate, on: loop), loop: loop) }
    }
    let media = try made.get()
    self.media = media
    do {
      socket = try await WebSocketClient.connect(url: url)
    } catch {
      await loop.run { media.value.close(saying: false) }
      throw error
    }
    reader = Task { [socket, habits] in
      for await event in socket.messages {
        guard case .text(let text) = event, let message = try? JSONValue(parsing: text) else {
          continue
        }
        if let reply = await Self.reply(to: message, media, habits) { socket.send(text: reply) }
      }
    }
  }

  private static func reply(
    to message: JSONValue, _ media: LoopBound<LiveMedia>, _ habits: Habits
  ) async -> String? {
    switch message["type"]?.stringValue {
    case "offer", "re-offer":
      let isFirst = message["type"] == "offer"
      if isFirst {
        habits.connectionID.withLock { $0 = message["connection_id"]?.stringValue }
      }
      guard habits.answersOffers.load(ordering: .relaxed), let sdp = message["sdp"]?.stringValue
      else { return nil }
      var mids: [MediaKind: String] = [:]
      mids[.audio] = message["mid"]?["audio"]?.stringValue
      mids[.video] = message["mid"]?["video"]?.stringValue
      let answer = await media.loop.run { [mids] in try? media.value.answer(sdp, mids: mids) }
      guard let answer else { return nil }
      let reply: JSONValue = ["type": isFirst ? "answer" : "re-answer", "sdp": .string(answer)]
      return reply.text
    case "ping": return habits.answersPings.load(ordering: .relaxed) ? #"{"type":"pong"}"# : nil
    case "notify":
      habits.notifications.withLock { $0.append(message) }
      return nil
    default: return nil
    }
  }

  /// What it was told of its channel.
  var notifications: [JSONValue] { habits.notifications.withLock { $0 } }

  /// Sends `connect`.
  ///
  /// - Parameter answering: false where its offer is left unanswered.
  func connect(_ role: String, channel: String, dataChannels: Bool, answering: Bool = true) {
    habits.answersOffers.store(answering, ordering: .relaxed)
    let video = #""video":{"codec_type":"VP8"}"#
    socket.send(
      text: #"{"type":"connect","role":"\#(role)","channel_id":"\#(channel)",\#(video),"#
        + #""data_channel_signaling":\#(dataChannels)}"#)
  }

  var connectionID: String? { habits.connectionID.withLock { $0 } }

  var isConnected: Bool {
    get async { await media.loop.run { [media] in media.value.isConnected } }
  }

  /// Packets that came.
  var received: Int {
    get async { await media.loop.run { [media] in media.value.received } }
  }

  func say(_ text: String) { socket.send(text: text) }

  func stopAnswering() { habits.answersPings.store(false, ordering: .relaxed) }

  /// Its socket for media is gone; nothing is said of it.
  func loseMedia() async { await media.loop.run { [media] in media.value.close(saying: false) } }

  func abortSignaling() { socket.abort() }

  /// Waits until the server has closed the WebSocket, and gives up at some time.
  func waitForEnd(_ limit: Duration) async {
    let clock = ContinuousClock()
    let end = clock.now + limit
    while socket.isOpen, clock.now < end { try? await Task.sleep(for: .milliseconds(100)) }
  }

  /// Lets go of everything.
  func finish() async {
    await media.loop.run { [media] in media.value.close(saying: true) }
    socket.abort()
    await reader.value
  }
}
