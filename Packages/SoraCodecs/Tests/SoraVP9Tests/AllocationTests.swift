import CSoraAllocationProbe
import CodecTestSupport
import SoraCodecs
import SoraMedia
import SoraVP9
import Testing

@Suite struct AllocationTests {
  @Test(
    .enabled(if: sora_allocation_count_is_on() != 0, "allocations aren't counted under sanitizers"))
  func steadyStateAllocatesNothing() throws {
    let encoder = try VP9Encoder(
      VideoEncoderSettings(
        width: 320, height: 180, threads: 1, allowsFrameDropping: false))
    let decoder = try VP9Decoder(VideoDecoderSettings(threads: 1))
    let pictures = (0..<8).map { Pictures.frame(320, 180, index: $0) }
    var before: UInt64 = 0
    for index in 0..<60 {
      if index == 20 { before = sora_allocation_count() }
      guard
        let encoded = try encoder.encode(
          pictures[index % 8], forceKeyFrame: false, rtpTimestamp: 0)
      else { continue }
      _ = try decoder.decode(encoded)
    }
    // The library's own are counted as well; it makes none either in steady state.
    let perFrame = Double(sora_allocation_count() - before) / 40
    print("VP9: \(perFrame) allocations a frame, encoding and decoding, library included")
    #expect(perFrame <= 0.1)
  }
}
