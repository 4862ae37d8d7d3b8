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

/// What becomes of a sender while its call goes on.
@Suite(.serialized) struct SenderTests {
  /// Another track is sent in the same stream, whose counters only grow (W3C webrtc-stats).
  @Test(.timeLimit(.minutes(5))) func anotherTrackDoesNotSetCountersBack() async throws {
    let factory = RTCPeerConnectionFactory()
    let caller = try Party(factory, "caller")
    let callee = try Party(factory, "callee")
    try await caller.connection.add(caller.stream)
    try await Party.negotiate(from: caller, to: callee)
    caller.startMedia()
    try await callee.waitUntil { $0.stamps.count >= 40 }
    func sent() async throws -> RTCOutboundRtpStreamStats {
      try #require(await caller.connection.statistics().outboundRTP.first { $0.kind == .video })
    }
    let sender = try #require(caller.connection.senders.first { $0.track is RTCVideoTrack })
    let first = try #require(sender.track as? RTCVideoTrack)
    let before = try await sent()
    let count = callee.received.withLock { $0.stamps.count }
    sender.track = factory.videoTrack(with: first.source, trackId: "another")
    try await callee.waitUntil { $0.stamps.count >= count + 10 }
    let after = try await sent()
    #expect(after.ssrc == before.ssrc && after.framesSent > before.framesSent)
    #expect(after.framesEncoded > before.framesEncoded)
    #expect(after.keyFramesEncoded > before.keyFramesEncoded)
    #expect(after.totalEncodeTime > before.totalEncodeTime)
    func limited(_ statistics: RTCOutboundRtpStreamStats) -> Duration {
      statistics.qualityLimitationDurations.values.reduce(.zero, +)
    }
    #expect(limited(before) > .zero && limited(after) >= limited(before))
    // Without a track for a while neither.
    sender.track = nil
    sender.track = first
    let pause = callee.received.withLock { $0.stamps.count }
    try await callee.waitUntil { $0.stamps.count >= pause + 10 }
    #expect(try await sent().framesEncoded > after.framesEncoded)
    caller.stopMedia()
    caller.connection.close()
    callee.connection.close()
  }

  /// Keys can't be played on what has stopped (W3C webrtc-pc §7.2).
  @Test(.timeLimit(.minutes(5))) func aStoppedSenderTakesNoKeys() async throws {
    let (caller, callee) = try await Party.pair()
    try await Party.negotiate(from: caller, to: callee)
    let transceiver = try #require(
      caller.connection.transceivers.first { $0.mediaType == .audio })
    let keys = try #require(transceiver.sender.dtmfSender)
    #expect(keys.canInsertDtmf)
    transceiver.setDirection(.stopped)
    try await Party.negotiate(from: caller, to: callee)
    #expect(transceiver.currentDirection == .stopped)
    #expect(!keys.canInsertDtmf)
    #expect(!keys.insertDtmf("1") && keys.remainingTones.isEmpty)
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
