import Foundation
import SoraDTLS
import SoraICE
import SoraServer
import SoraSignaling
import SoraTransport
import Testing

/// Who is told of recordings that the API begins and ends, on real sockets.
@Suite(.timeLimit(.minutes(5))) struct APIRecordingTests {
  @Test func membersAndTheEventWebhookAreTold() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-news-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let receiver = try await WebhookReceiver { _ in HTTPResponse(status: 200) }
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.apiPort = 0
    configuration.recordingFolder = folder.path
    configuration.recordsEverything = false
    configuration.access.eventWebhook = .init(url: receiver.url)
    let server = try await SoraServer.start(configuration)
    let loop = try NetworkLoop.make()
    let client = try await LiveClient(server.url, DTLSCertificate.generate(), on: loop)
    client.connect("sendrecv", channel: "one", dataChannels: false)
    while await !client.isConnected { try await Task.sleep(for: .milliseconds(20)) }
    while client.notifications.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
    let api = APIClient(server.apiURL)
    let begun = try await api.post(
      "Sora_20231220.StartRecording", #"{"channel_id":"one","expire_time":0}"#)
    #expect(begun.status == 200)
    let ended = try await api.post("Sora_20231220.StopRecording", #"{"channel_id":"one"}"#)
    #expect(ended.status == 200)
    // And one that ends by itself.
    let timed = try await api.post(
      "Sora_20231220.StartRecording", #"{"channel_id":"one","expire_time":1}"#)
    let recordings = [begun, timed].map { $0.json?["recording_id"]?.stringValue ?? "" }
    let names = ["recording.started", "recording.stopped"]
    let expected = recordings.flatMap { id in names.map { "\($0) \(id)" } }
    #expect(
      await waits {
        client.notifications.suffix(4).map(Self.name) == expected
      })
    // The webhook is told one after the other: connection and session before.
    #expect(await waits { receiver.bodies.count >= 6 })
    let news = receiver.bodies.filter { names.contains($0["type"]?.stringValue ?? "") }
    #expect(
      news.map { "\($0["type"]?.stringValue ?? "") \($0["recording_id"]?.stringValue ?? "")" }
        == expected)
    for body in news {
      #expect(body["channel_id"] == "one" && body["session_id"] == begun.json?["session_id"])
    }
    await client.finish()
    loop.shutdown()
    await server.shutdown()
    await receiver.stop()
  }

  /// A recording that begins while the last member leaves ends with its session, too: nobody would end it, and the channel couldn't be
  /// recorded again.
  @Test func noRecordingOutlivesItsSession() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-late-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await SoraServer.serving {
      $0.apiPort = 0
      $0.recordingFolder = folder.path
      $0.recordsEverything = false
    } _: { server in
      let api = APIClient(server.apiURL)
      for number in 0..<300 {
        let channel = "c\(number)"
        let peer = try await SignalingPeer(server.url)
        peer.connect(channel: channel)
        _ = try await peer.offer()
        async let begun = api.post(
          "Sora_20231220.StartRecording", #"{"channel_id":"\#(channel)","expire_time":0}"#)
        try await Task.sleep(for: .microseconds(number % 50 * 10))
        await server.disconnect(channelID: channel)
        let status = try await begun.status
        #expect(status == 200 || status == 404)
        let left = try await api.post(
          "Sora_20231220.StopRecording", #"{"channel_id":"\#(channel)"}"#)
        #expect(left.status == 404, "of \(channel), begun with \(status)")
        peer.socket.abort()
      }
    }
  }

  private static func name(_ message: JSONValue) -> String {
    "\(message["event_type"]?.stringValue ?? "") \(message["recording_id"]?.stringValue ?? "")"
  }
}
