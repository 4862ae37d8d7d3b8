import Foundation
import SoraCongestion
import SoraMedia
import SoraSDK
import SoraSignaling
import Testing
import WebRTC

/// The typed members beside the raw ones, of a call.
@Suite(.timeLimit(.minutes(5))) struct StatisticsTests {
  /// A sender, what it sends to, and the program that feeds it with pictures and sound.
  private func call() async throws -> (MediaChannel, FarEnd, Task<Void, any Error>) {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora(far)
    let channel = try await Attempt(server.configuration(), face: .tasks).channel()
    let stream = try #require(channel.senderStream)
    let feeder = Task {
      let samples = [Int16](repeating: 500, count: 960)
      while !Task.isCancelled {
        stream.send(videoFrame: VideoFrame(from: PixelBuffer(width: 160, height: 90) { _ in }))
        stream.send(audioFrame: AudioFrame(samples: samples))
        try await Task.sleep(for: .milliseconds(20))
      }
      withExtendedLifetime(server) {}
    }
    return (channel, far, feeder)
  }

  /// Reports until one is as it should be.
  private func report<Report: Sendable>(
    _ read: @Sendable () async -> Report, until condition: (Report) -> Bool
  ) async throws -> Report {
    while true {
      let report = await read()
      if condition(report) { return report }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  @Test func ofASender() async throws {
    let (channel, _, feeder) = try await call()
    let report = try await report({ await channel.statistics() }) { report in
      report.outboundRTP.count == 2
        && report.outboundRTP.allSatisfy { $0.packetsSent > 3 }
        && report.remoteInboundRTP.count == 2
        && report.remoteInboundRTP.allSatisfy { $0.roundTripTime != nil }
    }
    let video = try #require(report.outboundRTP.first { $0.kind == .video })
    #expect(video.frameWidth == 160 && video.frameHeight == 90)
    #expect(video.framesEncoded > 0 && video.keyFramesEncoded > 0 && video.framesSent > 0)
    #expect(video.totalEncodeTime > .zero && video.encoderImplementation != nil)
    #expect(video.qualityLimitationReason != nil && video.active == true)
    #expect(video.qualityLimitationDurations[.none] != nil)
    #expect(try #require(video.targetBitrate) > .kilobits(30))
    let codec = try #require(report.codec(video.codecId))
    #expect(codec.mimeType == "video/VP8" && codec.clockRate == 90_000)
    let audio = try #require(report.outboundRTP.first { $0.kind == .audio })
    #expect(audio.ssrc != video.ssrc && report.codec(audio.codecId)?.channels == 2)
    #expect(audio.frameWidth == nil && audio.qualityLimitationReason == nil)
    let remote = try #require(report.remoteInboundRTP.first { $0.localId == video.id })
    #expect(remote.fractionLost >= 0 && remote.ssrc == video.ssrc)
    #expect(video.remoteId == remote.id)

    // The same as the raw ones.
    let raw = try #require(report.entries.first { $0.id == video.id })
    #expect((raw.values["bytesSent"] as? NSNumber)?.intValue == video.bytesSent)
    let rawTime = try #require((raw.values["totalEncodeTime"] as? NSNumber)?.doubleValue)
    // Seconds as a binary fraction are cut to whole nanoseconds.
    #expect(abs(rawTime - video.totalEncodeTime.inSeconds) < 2e-9)

    // A rate needs two reports.
    let later = try await self.report({ await channel.statistics() }) {
      $0.outboundRTP.contains { $0.id == video.id && $0.bytesSent > video.bytesSent }
    }
    let now = try #require(later.outboundRTP.first { $0.id == video.id })
    let rate = try #require(now.bitrate(since: video))
    let exact =
      Double(now.bytesSent - video.bytesSent) * 8 / now.timestamp.timeIntervalSince(video.timestamp)
    #expect(abs(Double(rate.bitsPerSecond) - exact) < exact / 100 + 1)
    #expect(now.bitrate(since: now) == nil && audio.bitrate(since: video) == nil)

    feeder.cancel()
    await channel.disconnect()
    let none = await channel.statistics()
    #expect(none.outboundRTP.isEmpty && none.transport == nil && none.native == nil)
  }

  @Test func ofAPath() async throws {
    let (channel, far, feeder) = try await call()
    let report = try await report({ await channel.statistics() }) {
      // Media flows before the pair is nominated.
      $0.selectedCandidatePair?.nominated == true
        && $0.selectedCandidatePair?.currentRoundTripTime != nil
        && $0.selectedCandidatePair?.lastPacketSentTimestamp != nil
        && $0.transport?.bytesReceived ?? 0 > 0
    }
    let transport = try #require(report.transport)
    #expect(transport.iceState == .connected || transport.iceState == .completed)
    #expect(transport.dtlsState == .connected && transport.srtpCipher != nil)
    #expect(transport.packetsSent > 0 && transport.bytesReceived > 0)
    #expect(transport.connectDurations["dtls"] != nil)
    let pair = try #require(report.selectedCandidatePair)
    #expect(pair.id == transport.selectedCandidatePairId)
    #expect(pair.state == .succeeded && pair.requestsSent > 0)
    #expect(try #require(pair.availableOutgoingBitrate) > .zero)
    let sent = try #require(pair.lastPacketSentTimestamp)
    #expect(abs(sent.timeIntervalSinceNow) < 60)
    let local = try #require(report.localCandidates.first { $0.id == pair.localCandidateId })
    #expect(local.port > 0 && local.protocol == "udp")
    #expect(report.remoteCandidates.contains { $0.id == pair.remoteCandidateId })
    let certificate = try #require(
      report.certificates.first { $0.id == transport.remoteCertificateId })
    #expect(far.sdp.contains(certificate.fingerprint))
    feeder.cancel()
    await channel.disconnect()
  }

  @Test func ofAReceiver() async throws {
    let (channel, far, feeder) = try await call()
    let report = try await report({ await far.peer.statistics() }) { report in
      report.inboundRTP.contains { $0.kind == .video && $0.framesDecoded > 0 }
        && report.inboundRTP.contains { $0.kind == .audio && $0.jitterBufferEmittedCount > 0 }
    }
    let video = try #require(report.inboundRTP.first { $0.kind == .video })
    #expect(video.frameWidth == 160 && video.packetsReceived > 0 && video.bytesReceived > 0)
    #expect(video.totalDecodeTime > .zero && video.keyFramesDecoded > 0)
    #expect(video.jitter < .seconds(1) && video.packetsLost <= 0)
    #expect(report.codec(video.codecId)?.mimeType == "video/VP8")
    let audio = try #require(report.inboundRTP.first { $0.kind == .audio })
    #expect(audio.audioLevel != nil && audio.framesDecoded == 0 && audio.frameWidth == nil)
    #expect(audio.jitterBufferEmittedCount > 0)
    // Fifty pictures per second come, without a pause of W3C's five seconds.
    let later = try await self.report({ await far.peer.statistics() }) {
      $0.statistics[video.id]?.number("framesPerSecond") ?? 0 > 0
    }
    let raw = try #require(later.statistics[video.id])
    #expect((1...60).contains(try #require(raw.number("framesPerSecond"))))
    #expect(raw.number("pauseCount") == 0 && raw.number("totalPausesDuration") == 0)
    #expect(raw.number("freezeCount") != nil && raw.number("totalFreezesDuration") != nil)
    feeder.cancel()
    await channel.disconnect()
  }
}
