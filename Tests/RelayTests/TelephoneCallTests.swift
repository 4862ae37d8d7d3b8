import Foundation
import SignalingTestSupport
import SoraICE
import SoraMedia
import SoraSDK
import SoraServer
import SoraSignaling
import Testing
import WebRTC

/// What telephones have, between two connections of the SDK through the server: G.711, and keys.
@Suite(.timeLimit(.minutes(2))) struct TelephoneCallTests {
  private func connect(
    to server: SoraServer, _ role: Role, _ change: (inout Configuration) -> Void
  ) async throws -> MediaChannel {
    var configuration = Configuration(
      url: try #require(URL(string: server.url)), channelId: "telephone", role: role)
    configuration.videoEnabled = false
    change(&configuration)
    return try await Sora().connect(configuration: configuration)
  }

  @Test(arguments: [AudioCodec.pcmu, .opus])
  func soundAndKeysArrive(_ codec: AudioCodec) async throws {
    try await call(codec.rawValue, SoraServer.Configuration()) {
      if $0.role == .sendonly { $0.audioCodec = codec }
    }
  }

  /// G.711's other law, for which the iOS SDK has no word: the token that lets the client in asks for it.
  @Test func soundAndKeysArriveInALaw() async throws {
    var settings = SoraServer.Configuration()
    settings.access.secretKey = SecretKey("thirty-two bytes for a telephone")
    // {"alg":"HS256","typ":"JWT"}, {"audio_codec_type":"PCMA","channel_id":"telephone","exp":4102444800}
    let token = [
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
      "eyJhdWRpb19jb2RlY190eXBlIjoiUENNQSIsImNoYW5uZWxfaWQiOiJ0ZWxlcGhvbmUiLCJleHAiOjQxMDI0NDQ4MDB9",
      "EjWJSZj8x8rFA7XGXxRtSTf_5-bxhNtDlaNSg4046eY",
    ].joined(separator: ".")
    try await call("PCMA", settings) { $0.signalingConnectMetadata = ["access_token": token] }
  }

  private func call(
    _ codec: String, _ settings: SoraServer.Configuration,
    _ change: (inout Configuration) -> Void
  ) async throws {
    var settings = settings
    settings.mediaAddresses = [.loopbackV4]
    let server = try await SoraServer.start(settings)
    let speaker = try await connect(to: server, .sendonly, change)
    let listener = try await connect(to: server, .recvonly, change)
    let stream = try #require(speaker.senderStream)
    let feeder = Task {
      // 500 Hz.
      let samples = (0..<480).map { Int16($0 % 96 < 48 ? 8000 : -8000) }
      while !Task.isCancelled {
        stream.send(audioFrame: AudioFrame(samples: samples))
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    while listener.receiverStreams.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    let peer = try #require(listener.native)
    let (sink, keys) = (LoudSink(), Recorder<Character?>())
    // One of them keeps the transport alive and is silent.
    for track in peer.receivers.compactMap({ $0.track as? RTCAudioTrack }) {
      track.onDtmf = { if $0.isEnd { keys.append($0.tone) } }
      track.add(sink: sink)
    }
    await sink.loud.wait(for: 5)

    let dtmf = try #require(speaker.native?.senders.first?.dtmfSender)
    #expect(dtmf.canInsertDtmf && dtmf.insertDtmf("12#"))
    await keys.wait(for: 3)
    #expect(keys.elements == ["1", "2", "#"])
    let heard = await peer.statistics().all("codec").compactMap { $0.text("mimeType") }
    #expect(heard.contains { $0.lowercased() == "audio/\(codec.lowercased())" }, "\(heard)")

    feeder.cancel()
    await speaker.disconnect()
    await listener.disconnect()
    await server.shutdown()
  }
}

/// Notes what is loud.
private final class LoudSink: AudioSink {
  let loud = Recorder<Int16>()
  func receive(_ frame: AudioFrame) {
    if let peak = frame.samples.max(), peak > 4000 { loud.append(peak) }
  }
}
