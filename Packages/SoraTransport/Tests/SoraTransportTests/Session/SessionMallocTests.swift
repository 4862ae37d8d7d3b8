import CSoraMallocCount
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import Testing

/// Heap allocations and copies of packets on their way through session and transport. Goals of the project: none, and
/// one copy each way.
@Suite struct SessionMallocTests {
  private struct Figures {
    var sent: UInt64 = 0
    var received: UInt64 = 0
    var answered: UInt64 = 0
    var packets: UInt64 = 0
    var frames = 0
  }

  /// A second of warm-up, then `seconds` of 30 pictures of seven packets and 50 sounds a second.
  private func run(seconds: Int, losesEvery: Int? = nil, control: Bool) throws -> (
    Figures, PeerPair
  ) {
    var rings: (RingSink, RingSink)?
    let pair = try PeerPair(
      LinkConditions(delay: .milliseconds(5)),
      sinks: { network in
        rings = (RingSink(network), RingSink(network))
        return (rings?.0, rings?.1)
      })
    let (ringA, ringB) = try #require(rings)
    let video = try #require(pair.a.session.addSendStream(TestStreams.video()))
    let audio = try #require(pair.a.session.addSendStream(TestStreams.audio()))
    pair.b.session.setReceiveSections(
      [TestStreams.audioSection(), TestStreams.videoSection()], at: .zero)
    try #require(pair.connect())
    pair.network.run(for: .seconds(1))
    ringA.isKept = true
    ringB.isKept = true
    pair.a.notesFrames = false
    pair.b.notesFrames = false

    // Without feedback the estimate stays where it starts, and the pacer with it.
    let size = control ? 7_000 : 4_000
    var picture = StampedFrame.video(index: 0, isKeyFrame: true, size: size, at: .zero)
    let delta = StampedFrame.video(index: 1, isKeyFrame: false, size: size, at: .zero).payload
    var sound = StampedFrame.audio(index: 0, at: .zero)
    var now = pair.network.now
    var figures = Figures()
    var lossCounter = 0
    let begin = now
    let warmUp = Duration.seconds(10)
    var nextPicture = now
    var nextSound = now
    var packetsBefore: UInt64 = 0
    var framesBefore = 0
    while now - begin < warmUp + .seconds(seconds) {
      now = now + .milliseconds(1)
      let isMeasured = now - begin >= warmUp
      if !isMeasured {
        packetsBefore = video.statistics.packetsSent + audio.statistics.packetsSent
        framesBefore = pair.b.frameCount
      }
      let before = sora_malloc_count()
      if now >= nextPicture {
        nextPicture = nextPicture + .nanoseconds(33_333_333)
        picture.timestamp = now
        picture.rtpTimestamp = UInt32(truncatingIfNeeded: now.nanoseconds / 100_000 * 9)
        pair.a.session.send(picture, on: video, at: now)
        picture.payload = delta
        picture.isKeyFrame = false
      }
      if now >= nextSound {
        nextSound = nextSound + .milliseconds(20)
        sound.rtpTimestamp &+= 960
        pair.a.session.send(
          sound, on: audio, level: RTPAudioLevel(level: 20, hasVoice: true), at: now)
      }
      if let due = pair.a.session.nextDeadline, due <= now { pair.a.session.poll(at: now) }
      let afterSending = sora_malloc_count()
      ringA.deliver(to: pair.b, at: now) { _ in
        lossCounter += 1
        return losesEvery.map { lossCounter % $0 == 0 } ?? false
      }
      if let due = pair.b.session.nextDeadline, due <= now { pair.b.session.poll(at: now) }
      let afterReceiving = sora_malloc_count()
      if control {
        ringB.deliver(to: pair.a, at: now)
      } else {
        ringB.deliver(to: pair.a, at: now) { _ in true }
      }
      let end = sora_malloc_count()
      if isMeasured {
        figures.sent += afterSending - before
        figures.received += afterReceiving - afterSending
        figures.answered += end - afterReceiving
      }
    }
    figures.packets = video.statistics.packetsSent + audio.statistics.packetsSent - packetsBefore
    figures.frames = pair.b.frameCount - framesBefore
    return (figures, pair)
  }

  @Test(.needsOptimizer, arguments: [true, false])
  func aPacketCostsNoAllocation(control: Bool) throws {
    let (figures, pair) = try run(seconds: 30, control: control)
    let stream = try #require(pair.b.session.receiveStreams.first { $0.kind == .video })
    let buffer = try #require(stream.jitterBuffer)
    print(
      "\(control ? "with" : "without") feedback: \(figures.packets) packets, \(figures.frames) frames; mallocs: sending \(figures.sent), "
        + "receiving \(figures.received), taking feedback \(figures.answered)")
    let copies = Double(buffer.statistics.payloadCopies) / Double(buffer.statistics.packetsReceived)
    let again = buffer.statistics.stashCopies
    print("copies of a payload into its frame: \(copies), of packets before their turn: \(again)")
    #expect(figures.packets > 4_500 && figures.frames > 800)
    guard sora_malloc_count_is_on() != 0 else { return }
    #expect(figures.sent == 0)
    #expect(figures.received == 0)
    #expect(figures.answered == 0)
    #expect(copies <= 1 && again == 0)
  }

  @Test(.needsOptimizer) func repairAllocatesNothingEither() throws {
    let (figures, pair) = try run(seconds: 30, losesEvery: 50, control: true)
    let sent = try #require(pair.a.session.sendStreams.first).statistics
    print(
      "2 % loss: \(figures.packets) packets, \(sent.retransmittedPacketsSent) resent, \(figures.frames) frames; mallocs: sending "
        + "\(figures.sent), receiving \(figures.received), taking feedback \(figures.answered)")
    #expect(sent.retransmittedPacketsSent > 50)
    guard sora_malloc_count_is_on() != 0 else { return }
    #expect(figures.sent == 0)
    #expect(figures.received == 0)
    #expect(figures.answered == 0)
  }

  @Test func aFrameIsCopiedOnceOnItsWayOut() throws {
    let bench = SessionBench()
    let stream = try #require(bench.session.addSendStream(TestStreams.video()))
    for index in 0..<30 {
      bench.session.send(
        StampedFrame.video(
          index: UInt32(index), isKeyFrame: index == 0, size: 2_500, at: bench.now),
        on: stream, at: bench.now)
      bench.pass(.milliseconds(33))
    }
    // Every packet was written where it is kept for retransmission, and read from there by the cipher.
    let stored = stream.historyStatistics
    let first = stream.statistics.packetsSent - stream.statistics.paddingPacketsSent
    print("packets written into the history: \(stored.stored) for \(first) sent first")
    #expect(stored.stored == first)
  }
}
