import CSoraMallocCount
import SoraAudio
import SoraMedia
import Testing

/// In steady state a packet costs no allocation. Means something in release builds only.
@Suite struct OpusAllocationTests {
  @Test func encodingAndPlayingAllocateNothing() throws {
    var settings = OpusEncoderSettings(channels: 2, bitsPerSecond: 64_000, complexity: 1)
    let encoder = try OpusEncoder(settings)
    let buffer = AudioJitterBuffer(decoder: try OpusDecoder(channels: 2))
    let block = AudioFrame(
      samples: Signals.voice(count: 480).flatMap { [$0, $0] }, sampleRate: 48_000, channels: 2,
      timestamp: .zero)
    let output = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 960)
    defer { output.deallocate() }
    var adapter = OpusNetworkAdapter(
      OpusNetworkAdapter.Configuration(
        bitsPerSecond: 64_000, channels: 2,
        durations: [.milliseconds20, .milliseconds40, .milliseconds60], allowsInBandFEC: true))
    var packets: UInt16 = 0
    var last: EncodedFrame?
    func step(_ index: Int) throws {
      let now = Instant.zero + .milliseconds(index * 10)
      try encoder.encode(block) { frame in
        // Every tenth packet is lost, and comes with the next.
        if packets % 10 != 9 {
          buffer.insert(
            sequenceNumber: packets, timestamp: frame.rtpTimestamp, payload: frame.payload.bytes,
            at: now)
          if let last {
            buffer.insertRedundant(
              sequenceNumber: packets &- 1, timestamp: last.rtpTimestamp,
              payload: last.payload.bytes, at: now)
          }
        }
        last = frame
        packets &+= 1
      }
      buffer.getAudio(at: now, into: output)
      if index % 100 == 0 {
        settings.apply(
          adapter.update(
            OpusNetworkState(
              availableBitsPerSecond: index % 200 == 0 ? 90_000 : 300_000, lossFraction: 0.1),
            at: now))
        try encoder.update(settings)
      }
    }
    for index in 0..<1_000 { try step(index) }
    let before = sora_malloc_count()
    for index in 1_000..<3_000 { try step(index) }
    let allocations = sora_malloc_count() - before
    #if !DEBUG
      if sora_malloc_count_is_on() != 0 {
        #expect(allocations == 0, "\(allocations) in \(packets) packets")
      }
    #endif
    #expect(packets > 500)
    #expect(buffer.stats.fecPacketsReceived > buffer.stats.fecPacketsDiscarded)
  }
}
