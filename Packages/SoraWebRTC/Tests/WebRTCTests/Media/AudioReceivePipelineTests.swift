import CSoraMallocCount
import Dispatch
import SoraAudio
import SoraMedia
import Testing
import WebRTC

/// Network loop, playout and the app's sinks don't wait for one another.
@Suite(.timeLimit(.minutes(5))) struct AudioReceivePipelineTests {
  @Test func packetsAreHandedOverWhileTheDecoderIsAtWork() {
    let gate = Gate()
    let receiving = AudioReceiving(decoder: GatedDecoder(gate))
    receiving.insert(0)
    let playout = DispatchQueue(label: "test.playout")
    playout.async { for period in 0..<20 { receiving.playOut(period) } }
    gate.reached.wait()
    for number in 1...100 { receiving.insert(number) }
    // Told from the last period that was played to its end.
    #expect(receiving.pipeline.statistics.packetsInserted == 1)
    #expect(!gate.hasGivenUp, "a packet or the statistics waited for the decoder")
    gate.open()
    playout.sync {}
    #expect(receiving.pipeline.statistics.packetsInserted == 101)
  }

  @Test func aBlockedSinkHoldsUpNoDecoderAndNoOtherTrack() {
    let slow = AudioReceiving()
    let quick = AudioReceiving()
    let blocked = GatedSink(isOpen: false)
    let free = GatedSink(isOpen: true)
    slow.track.add(sink: blocked)
    quick.track.add(sink: free)
    slow.run(0..<30)
    blocked.gate.reached.wait()
    slow.run(30..<200)
    for period in stride(from: 0, to: 200, by: 40) {
      quick.run(period..<period + 40)
      quick.finishDelivery()
    }
    #expect(!blocked.gate.hasGivenUp, "playout waited for a sink")
    #expect(slow.pipeline.statistics.totalSamplesReceived == 200 * 480)
    #expect(slow.pipeline.statistics == quick.pipeline.statistics)

    // All frames came to the one; at the other one is under way, half a second waits, and the rest is told.
    let all = free.received.map(\.timestamp)
    #expect(all.count > 190)
    #expect(quick.pipeline.framesDropped == 0)
    #expect(slow.pipeline.framesDropped == UInt64(all.count - 51))
    blocked.gate.open()
    slow.finishDelivery()
    #expect(blocked.received.map(\.timestamp) == all.prefix(1) + all.suffix(50))
  }

  @Test func tracksOfACallThatIsPlayedByTheClockGoOnBesideABlockedSink() async throws {
    let playout = AudioPlayout()
    let slow = AudioReceiving()
    let quick = AudioReceiving()
    let blocked = GatedSink(isOpen: false)
    let free = GatedSink(isOpen: true)
    slow.track.add(sink: blocked)
    quick.track.add(sink: free)
    for receiving in [slow, quick] {
      receiving.insert(0)
      playout.add(receiving.pipeline)
    }
    // What comes after the only packet is made up, for ever.
    while free.received.count < 100 || slow.pipeline.framesDropped == 0 {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(!blocked.gate.hasGivenUp)
    #expect(blocked.received.isEmpty)
    blocked.gate.open()
    for receiving in [slow, quick] { playout.remove(receiving.pipeline) }
  }

  @Test func whatWaitsForPlayoutIsBoundedAndTheNewestIsKept() {
    let receiving = AudioReceiving()
    for number in 0..<276 { receiving.insert(number) }
    receiving.playOut(552)
    #expect(receiving.pipeline.statistics.packetsInserted == 20)
    #expect(receiving.pipeline.statistics.packetsDiscarded == 256)
    // By bytes: 65,536 hold 43 of these.
    let large = AudioReceiving()
    for number in 0..<50 { large.insert(number, payload: [UInt8](repeating: 1, count: 1_500)) }
    large.playOut(100)
    #expect(large.pipeline.statistics.packetsInserted == 7)
    #expect(large.pipeline.statistics.packetsDiscarded == 43)
  }

  @Test func packetsArriveWhenTheyComeAndNotWhenPlayoutGetsToThem() {
    let receiving = AudioReceiving()
    for number in 0..<25 { receiving.insert(number) }
    receiving.playOut(50)
    let statistics = receiving.pipeline.statistics
    #expect(statistics.jitterBufferEmittedCount == 960)
    // The first packet has waited since it came.
    #expect(statistics.jitterBufferDelay == 0.5 * 960)
  }

  @Test func redundantPacketsAreTakenApart() {
    let receiving = AudioReceiving()
    // RFC 2198 §3: a copy of 3 bytes from 960 ticks before, then 3 bytes.
    func redundant(_ codec: UInt8) -> [UInt8] {
      [0x80 | codec, 0x0F, 0x00, 0x03, codec, 1, 2, 3, 1, 2, 3]
    }
    receiving.insert(0)
    receiving.insertRedundant(2, codec: 111, payload: redundant(111))
    receiving.insertRedundant(3, codec: 111, payload: redundant(110))
    receiving.insertRedundant(4, codec: 111, payload: [0xEF])
    receiving.playOut(8)
    let statistics = receiving.pipeline.statistics
    #expect(statistics.packetsInserted == 2 && statistics.packetsMalformed == 1)
    #expect(statistics.fecPacketsReceived == 1 && statistics.fecPacketsDiscarded == 0)
    #expect(receiving.pipeline.blocksSkipped == 2)
    for period in 9..<14 { receiving.playOut(period) }
    #expect(receiving.pipeline.statistics.concealedSamples == 0)
  }

  /// From the network loop to decoded audio, while nobody listens. Means something in release builds only.
  @Test func packetsAreTakenAndPlayedWithoutAllocating() {
    let receiving = AudioReceiving()
    let plain: [UInt8] = [1, 2, 3, 4]
    let redundant: [UInt8] = [0x80 | 111, 0x0F, 0x00, 0x03, 111, 1, 2, 3, 1, 2, 3]
    func run(_ periods: Range<Int>) {
      for period in periods {
        if period.isMultiple(of: 6) {
          receiving.insertRedundant(period / 2, codec: 111, payload: redundant)
        } else if period.isMultiple(of: 2) {
          receiving.insert(period / 2, payload: plain)
        }
        receiving.playOut(period)
      }
    }
    run(0..<1_000)
    let before = sora_malloc_count()
    run(1_000..<5_000)
    let allocations = sora_malloc_count() - before
    #if !DEBUG
      if sora_malloc_count_is_on() != 0 {
        #expect(allocations == 0, "\(allocations) for 2,000 packets")
      }
    #endif
    _ = allocations
    #expect(receiving.pipeline.statistics.packetsInserted == 2_500)
  }

  @Test func volumeAndMutingReachTheSinks() {
    let receiving = AudioReceiving(decoder: LoudDecoder())
    let sink = GatedSink(isOpen: true)
    receiving.track.add(sink: sink)
    receiving.track.source.volume = 0.5
    receiving.run(0..<40)
    receiving.finishDelivery()
    let count = sink.received.count
    #expect(count > 20)
    #expect(sink.received.last?.samples == [Int16](repeating: 500, count: 480))
    receiving.track.isEnabled = false
    receiving.run(40..<60)
    receiving.finishDelivery()
    #expect(sink.received.count == count)
    #expect(receiving.pipeline.statistics.totalSamplesReceived == 60 * 480)
  }
}

/// Every sample is 1,000.
private final class LoudDecoder: AudioPayloadDecoder {
  let channels = 1
  func sampleCount(of payload: Span<UInt8>) -> Int? { 960 }
  func redundantSampleCount(of payload: Span<UInt8>) -> Int { 0 }
  func isSilence(_ payload: Span<UInt8>) -> Bool { false }
  func decode(
    _ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int { fill(960, &samples) }
  func decodeRedundancy(
    of payload: Span<UInt8>, sampleCount: Int,
    into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int { fill(sampleCount, &samples) }
  func conceal(
    sampleCount: Int, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int { fill(sampleCount, &samples) }
  func reset() {}

  private func fill(_ count: Int, _ samples: inout MutableSpan<Int16>) -> Int {
    for index in 0..<count { samples[index] = 1_000 }
    return count
  }
}
