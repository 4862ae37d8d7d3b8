import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import Testing

/// What a session repairs on links that lose packets.
@Suite struct SessionLossTests {
  @Test func twoPercentLossIsRepaired() throws {
    let pair = try PeerPair(
      seed: 11, LinkConditions(delay: .milliseconds(50), jitter: .milliseconds(10), loss: 0.02))
    let call = try MediaCall(pair, maximumVideo: 1_500_000)
    pair.network.run(for: .seconds(60))
    let sent = call.video.statistics
    let received = try #require(call.received)
    print(
      "2 % loss: sent \(sent.framesSent) frames, out \(pair.b.frames.count), resent \(sent.retransmittedPacketsSent) "
        + "of \(sent.packetsSent), nacks \(sent.nackCount), plis \(sent.pliCount), longest pause "
        + "\(call.longestPause.inMilliseconds) ms")
    #expect(pair.b.frames.count >= Int(sent.framesSent) - 10)
    #expect(pair.b.frames.allSatisfy { $0.isIntact })
    #expect(pair.b.frames.map(\.index) == pair.b.frames.map(\.index).sorted())
    #expect(call.longestPause < .milliseconds(500))
    #expect(sent.retransmittedPacketsSent > 50 && sent.nackCount > 20)
    #expect(received.statistics.nackCount >= sent.nackCount)
    #expect(received.nackStatistics.recovered > 50)
    // What the network loses is reported, repaired or not.
    let lost = Double(call.video.remote.packetsLost) / Double(sent.packetsSent)
    #expect(lost > 0.012 && lost < 0.03, "\(lost)")
    let roundTrip = try #require(call.video.remote.roundTrip)
    #expect(roundTrip > .milliseconds(80) && roundTrip < .milliseconds(130), "\(roundTrip)")
    #expect(call.video.remote.jitter > 0 && call.video.remote.jitter < 0.05)
    #expect(sent.totalPacketSendDelay > .zero)
    #expect(received.received.packetsLost > 0)
    #expect(received.senderReports.count > 30)
    #expect(pair.network.overduePolls == 0, "a deadline stayed in the past")
  }

  @Test func soundIsNeitherHeldBackNorRepaired() throws {
    let pair = try PeerPair(seed: 4, LinkConditions(delay: .milliseconds(30), loss: 0.05))
    let call = try MediaCall(pair, maximumVideo: 500_000)
    pair.network.run(for: .seconds(20))
    let sent = call.audio.statistics
    #expect(sent.packetsSent >= 999)
    #expect(sent.retransmittedPacketsSent == 0 && sent.nackCount == 0)
    #expect(sent.totalPacketSendDelay < .milliseconds(1), "audio doesn't wait in the pacer")
    let share = Double(pair.b.audioPackets.count) / Double(sent.packetsSent)
    #expect(share > 0.92 && share < 0.98, "\(share)")
    let stream = try #require(pair.b.session.receiveStreams.first { $0.kind == .audio })
    #expect(stream.lastAudioLevel == RTPAudioLevel(level: 30, hasVoice: true))
    #expect(stream.jitterBuffer == nil)
    #expect(stream.statistics.nackCount == 0)
  }

  /// Sound is asked for where it was agreed on, and sent again as it was: nothing but the first copy's number and bytes.
  @Test func soundIsRepairedWhereThatIsNegotiated() throws {
    let pair = try PeerPair(seed: 4, LinkConditions(delay: .milliseconds(30), loss: 0.05))
    let call = try MediaCall(
      pair, maximumVideo: 300_000,
      sending: { $0.acceptsNack = true }, receiving: { $0.sendsNack = true })
    pair.network.run(for: .seconds(40))
    let sent = call.audio.statistics
    let stream = try #require(pair.b.session.receiveStreams.first { $0.kind == .audio })
    let share = Double(Set(pair.b.audioPackets.map(\.number)).count) / 2000
    print(
      "sound with NACK at 5 % loss: \(share) came, \(sent.retransmittedPacketsSent) sent again, "
        + "\(stream.nackStatistics)")
    #expect(share > 0.985, "\(share)")
    #expect(sent.retransmittedPacketsSent > 60 && sent.retransmittedPacketsSent < 200)
    #expect(stream.nackStatistics.recovered > 60 && stream.nackStatistics.reordered < 10)
    let repairs = stream.nackStatistics.recovered + stream.nackStatistics.late
    #expect(stream.received.retransmittedPacketsReceived == repairs)
    #expect(stream.nackStatistics.late <= stream.nackStatistics.givenUp)
    // What the network loses is reported as lost, and the wait isn't jitter.
    #expect(stream.received.packetsLost > 60 && stream.received.jitter < 0.002)
    #expect(call.audio.remote.packetsLost > 60)
    #expect(pair.a.session.estimatedBitrate > 1_000_000)
  }

  /// A sound that would come too late for its turn isn't asked for.
  @Test func soundThatCantComeInTimeIsntAskedFor() throws {
    let pair = try PeerPair(seed: 4, LinkConditions(delay: .milliseconds(60), loss: 0.05))
    let call = try MediaCall(
      pair, maximumVideo: 300_000,
      sending: { $0.acceptsNack = true }, receiving: { $0.sendsNack = true })
    pair.network.run(for: .seconds(1))
    let stream = try #require(pair.b.session.receiveStreams.first { $0.kind == .audio })
    pair.b.session.noteRoundTrip(.milliseconds(120))
    stream.setPlayoutDelay(.milliseconds(100))
    let before = stream.statistics.nackCount
    pair.network.run(for: .seconds(20))
    #expect(stream.statistics.nackCount == before)
    stream.setPlayoutDelay(.milliseconds(160))
    pair.network.run(for: .seconds(20))
    #expect(stream.statistics.nackCount > before + 20)
    #expect(stream.nackStatistics.recovered > 20)
    _ = call
  }

  @Test func withoutNackKeyFramesRepair() throws {
    let pair = try PeerPair(seed: 6, LinkConditions(delay: .milliseconds(20), loss: 0.01))
    let call = try MediaCall(pair, maximumVideo: 500_000, nack: false)
    pair.network.run(for: .seconds(30))
    let sent = call.video.statistics
    print(
      "no NACK: \(pair.b.frames.count) of \(sent.framesSent) frames, \(sent.pliCount) PLIs, \(sent.keyFramesSent) key frames"
    )
    #expect(sent.retransmittedPacketsSent == 0 && sent.nackCount == 0)
    #expect(try #require(call.received).statistics.nackCount == 0)
    #expect(sent.pliCount > 0 && sent.keyFramesSent > 1)
    #expect(pair.b.frames.allSatisfy { $0.isIntact })
    #expect(pair.b.frames.count > Int(sent.framesSent) / 2)
  }

  @Test func numbersWrapUnnoticed() throws {
    // 15-bit random starts and 5 minutes of about 250 packets a second: every number wraps.
    let pair = try PeerPair(seed: 8, LinkConditions(delay: .milliseconds(20), loss: 0.01))
    let call = try MediaCall(pair, maximumVideo: 2_000_000)
    pair.network.run(for: .seconds(330))
    let sent = call.video.statistics
    print(
      "wraps: \(sent.packetsSent) video packets, \(pair.b.frames.count) of \(sent.framesSent) frames"
    )
    #expect(sent.packetsSent > 66_000)
    #expect(pair.b.frames.count >= Int(sent.framesSent) - 10)
    #expect(pair.b.frames.allSatisfy { $0.isIntact })
    #expect(call.longestPause < .milliseconds(500))
  }

  @Test func anHourOfSilenceAfterAPauseCostsNothing() throws {
    let pair = try PeerPair(seed: 9)
    let call = try MediaCall(pair, maximumVideo: 300_000, videoStops: .zero + .seconds(5))
    pair.network.run(for: .seconds(60))
    let polls = pair.network.overduePolls
    #expect(polls == 0)
    #expect(try #require(call.received).statistics.pliCount <= 2, "silence isn't a reason to ask")
  }
}
