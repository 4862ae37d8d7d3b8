import SoraMedia
import Synchronization
import Testing
import WebRTC

/// What a sender's parameters do to a call that runs, over real sockets and codecs.
@Suite(.serialized) struct ParameterTests {
  @Test(.timeLimit(.minutes(5))) func encodingsTakeEffectWhileTheCallGoesOn() async throws {
    let factory = RTCPeerConnectionFactory()
    let caller = try Party(factory, "caller")
    let callee = try Party(factory, "callee")
    let sizes = SizeLog()
    try await caller.connection.add(caller.stream)
    try await Party.negotiate(from: caller, to: callee)
    caller.startMedia()
    try await callee.waitUntil { $0.stamps.count >= 10 }
    let received = try #require(
      callee.connection.receivers.compactMap { $0.track as? RTCVideoTrack }.first)
    received.add(sink: sizes)
    try await sizes.wait { $0 == 320 }

    let sender = try #require(
      caller.connection.senders.first { $0.track is RTCVideoTrack })
    var parameters = sender.parameters
    #expect(parameters.encodings.count == 1)
    parameters.encodings[0].scaleResolutionDownBy = 2
    parameters.encodings[0].maxBitrateBps = 120_000
    sender.parameters = parameters
    try await sizes.wait { $0 == 160 }

    let outbound = try #require(
      await caller.connection.statistics().all("outbound-rtp").first { $0.text("kind") == "video" })
    #expect(outbound.number("frameWidth") == 160)
    #expect((outbound.number("targetBitrate") ?? .infinity) <= 120_000)
    #expect(outbound.text("qualityLimitationReason") != nil)
    guard case .record(let durations)? = outbound.values["qualityLimitationDurations"] else {
      Issue.record("no qualityLimitationDurations")
      return
    }
    #expect(Set(durations.keys) == ["none", "cpu", "bandwidth", "other"])
    #expect(durations.values.reduce(0, +) > 0)

    sender.parameters.encodings[0].scaleResolutionDownBy = 1
    try await sizes.wait { $0 == 320 }
    caller.stopMedia()
    caller.connection.close()
    callee.connection.close()
  }
}

/// The width of the last picture.
private final class SizeLog: VideoSink, Sendable {
  private let width = Mutex(0)

  func receive(_ frame: RawVideoFrame) { width.withLock { $0 = frame.width } }

  func wait(_ condition: (Int) -> Bool) async throws {
    while !condition(width.withLock { $0 }) { try await Task.sleep(for: .milliseconds(10)) }
  }
}
