import Foundation
import SoraClock
import SoraMedia
import SoraSDK
import SoraServer
import Testing

/// What arrives at a player, but isn't decoded by anybody.
@Suite(.timeLimit(.minutes(1))) struct UndecodableTests {
  /// A key frame of VP8 by its first bytes (RFC 6386 §9.1), 640x360, and nothing behind them.
  private static let hollow = EncodedBuffer(
    [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0x68, 0x01] + [UInt8](repeating: 0, count: 500))

  /// It isn't told as a network that lets nothing through.
  @Test func thePlayerSaysWhatArrived() async throws {
    let server = try await SoraServer.start()
    let url = try #require(URL(string: server.url))
    var configuration = SoraSDK.Configuration(
      urlCandidates: [url], channelId: "c", role: .sendonly)
    configuration.audioEnabled = false
    configuration.cameraSettings.isEnabled = false
    configuration.videoCodec = .vp8
    let publisher = try await Sora().connect(configuration: configuration)
    let stream = try #require(publisher.senderStream)
    let giving = Task {
      for index in 0..<600 where !Task.isCancelled {
        let frame = EncodedFrame(
          payload: Self.hollow, isKeyFrame: true, rtpTimestamp: UInt32(index) * 9_000,
          timestamp: SystemClock.now)
        stream.send(encodedVideoFrame: frame, codec: .vp8)
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
    let run = try await Run.beside([
      "play", server.url, "--channel", "c", "--audio", "none", "--timeout", "4",
    ])
    giving.cancel()
    await giving.value
    await publisher.disconnect()
    await server.shutdown()
    #expect(run.status != 0)
    #expect(run.errors.contains("packets of VP8 arrived, but no picture"), "\(run.errors)")
  }
}
