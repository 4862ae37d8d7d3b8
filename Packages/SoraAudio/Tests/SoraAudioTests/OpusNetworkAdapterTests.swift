import SoraAudio
import SoraMedia
import Testing

/// What an adapter decides on scripted networks, one report per second.
@Suite struct OpusNetworkAdapterTests {
  private func adapter(
    bits: Int = 32_000, channels: Int = 1,
    durations: [OpusFrameDuration] = [.milliseconds20, .milliseconds40, .milliseconds60],
    fec: Bool = true, redundancy: Int = 0, maximumPayload: Int = 1_130
  ) -> OpusNetworkAdapter {
    OpusNetworkAdapter(
      OpusNetworkAdapter.Configuration(
        bitsPerSecond: bits, channels: channels, durations: durations, allowsInBandFEC: fec,
        redundancy: redundancy, maximumPayload: maximumPayload))
  }

  /// Runs `seconds` of one network; returns the packet times in milliseconds, one per second.
  @discardableResult
  private func run(
    _ adapter: inout OpusNetworkAdapter, from start: Int = 0, seconds: Int,
    available: Int? = nil, roundTrip: Int = 50, loss: Double? = 0
  ) -> [Double] {
    (start..<(start + seconds)).map { second in
      adapter.update(
        OpusNetworkState(
          availableBitsPerSecond: available, roundTrip: .milliseconds(roundTrip),
          lossFraction: loss), at: Instant.zero + .seconds(second)
      ).frameDuration.milliseconds
    }
  }

  @Test func aGoodNetworkLeavesEverythingAsItIs() {
    var adapter = adapter()
    #expect(Set(run(&adapter, seconds: 60, available: 500_000)) == [20])
    #expect(adapter.decision.bitsPerSecond == 32_000)
    #expect(!adapter.decision.usesInBandFEC)
    #expect(adapter.decision.packetLossPercent == 0)
  }

  @Test func withoutAnEstimateNothingMoves() {
    var adapter = adapter()
    #expect(Set(run(&adapter, seconds: 30, available: nil)) == [20])
    #expect(adapter.decision.bitsPerSecond == 32_000)
  }

  @Test func aNarrowPathGetsLongPacketsAtOnceAndShortOnesWhenItLasts() {
    var adapter = adapter()
    run(&adapter, seconds: 5, available: 300_000)
    // 20 ms spend 30 kbit/s on headers, 40 ms 15, 60 ms 10.
    #expect(run(&adapter, from: 5, seconds: 1, available: 40_000) == [40])
    #expect(adapter.decision.bitsPerSecond == 24_800)
    #expect(run(&adapter, from: 6, seconds: 1, available: 28_000) == [60])
    #expect(adapter.decision.bitsPerSecond == 17_866)
    // Room for a moment is no room.
    #expect(run(&adapter, from: 7, seconds: 3, available: 100_000) == [60, 60, 60])
    #expect(run(&adapter, from: 10, seconds: 1, available: 28_000) == [60])
    let back = run(&adapter, from: 11, seconds: 20, available: 100_000)
    #expect(back.prefix(5).allSatisfy { $0 == 60 })
    #expect(back.last == 20)
    // One step at a time.
    #expect(back.contains(40))
    #expect(adapter.decision.bitsPerSecond == 32_000)
  }

  @Test func anEstimateThatSwingsDoesNotSwingThePackets() {
    var adapter = adapter()
    var changes = 0
    var last = 20.0
    for second in 0..<120 {
      let now = run(
        &adapter, from: second, seconds: 1, available: second % 4 < 2 ? 38_000 : 70_000)[0]
      if now != last { changes += 1 }
      last = now
    }
    #expect(changes == 1)
    #expect(last == 40)
  }

  @Test func farPeersGetLongPacketsSooner() {
    var near = adapter()
    var far = adapter()
    #expect(run(&near, seconds: 10, available: 50_000, roundTrip: 50).last == 20)
    #expect(run(&far, seconds: 10, available: 50_000, roundTrip: 500).last == 40)
  }

  @Test func highLossKeepsPacketsShortWhereSpeechCanStillBeUnderstood() {
    var calm = adapter()
    var lossy = adapter()
    run(&calm, seconds: 10, available: 200_000)
    run(&lossy, seconds: 10, available: 200_000, loss: 0.15)
    #expect(run(&calm, from: 10, seconds: 1, available: 44_000) == [40])
    #expect(run(&lossy, from: 10, seconds: 1, available: 44_000, loss: 0.15) == [20])
    // Where even that isn't left, headers have to give way.
    #expect(run(&lossy, from: 11, seconds: 1, available: 32_000, loss: 0.15) != [20])
  }

  @Test func lossBringsRedundancyAndItsEndTakesItAway() {
    var adapter = adapter()
    run(&adapter, seconds: 3, loss: 0.001)
    #expect(!adapter.decision.usesInBandFEC)
    run(&adapter, from: 3, seconds: 2, loss: 0.08)
    #expect(adapter.decision.usesInBandFEC)
    #expect(adapter.decision.packetLossPercent == 10)
    // A second without loss in the middle of a lossy minute changes nothing.
    run(&adapter, from: 5, seconds: 1, loss: 0)
    #expect(adapter.decision.usesInBandFEC)
    run(&adapter, from: 6, seconds: 40, loss: 0)
    #expect(!adapter.decision.usesInBandFEC)
    #expect(adapter.decision.packetLossPercent == 0)
    run(&adapter, from: 46, seconds: 10, loss: 1)
    #expect(adapter.decision.packetLossPercent == 25)
  }

  @Test func withoutAReportLossStaysAsItWas() {
    var adapter = adapter()
    run(&adapter, seconds: 5, loss: 0.1)
    let before = adapter.loss
    run(&adapter, from: 5, seconds: 50, loss: nil)
    #expect(adapter.loss == before)
  }

  @Test func aReceiverWithoutUseForRedundancyGetsNone() {
    var adapter = adapter(fec: false)
    run(&adapter, seconds: 10, loss: 0.2)
    #expect(!adapter.decision.usesInBandFEC)
    #expect(adapter.decision.packetLossPercent == 20)
  }

  @Test func wholeCopiesTakeThePlaceOfCoarseOnesAndTheirShare() {
    var adapter = adapter(redundancy: 1)
    run(&adapter, seconds: 10, available: 70_000, loss: 0.05)
    #expect(!adapter.decision.usesInBandFEC)
    // 70 less 30.4 for headers, in two.
    #expect(adapter.decision.frameDuration == .milliseconds20)
    #expect(adapter.decision.bitsPerSecond == 19_800)
  }

  @Test func aBoundByTheReceiverIsKept() {
    var fixed = adapter(durations: [.milliseconds40])
    #expect(Set(run(&fixed, seconds: 20, available: 20_000)) == [40])
    #expect(fixed.decision.bitsPerSecond == 6_000)
    var bounded = adapter(durations: [.milliseconds20, .milliseconds40])
    #expect(run(&bounded, seconds: 5, available: 12_000).last == 40)
  }

  @Test func packetsAlwaysFitADatagram() {
    for bits in [6_000, 64_000, 128_000, 256_000, 400_000, 510_000] {
      for redundancy in 0...1 {
        var adapter = adapter(bits: bits, channels: 2, redundancy: redundancy)
        for available in [nil, 8_000, 40_000, 90_000, 200_000, 2_000_000] {
          run(&adapter, seconds: 10, available: available)
          let decision = adapter.decision
          let size = Double(decision.bitsPerSecond) / 8_000 * decision.frameDuration.milliseconds
          #expect(size * Double(1 + redundancy) <= 1_130, "\(bits) \(decision)")
          #expect((6_000...510_000).contains(decision.bitsPerSecond))
        }
      }
    }
    // Half a megabit needs packets of 10 ms.
    #expect(adapter(bits: 510_000).decision.frameDuration == .milliseconds10)
    #expect(adapter(bits: 510_000).decision.bitsPerSecond == 510_000)
  }
}
