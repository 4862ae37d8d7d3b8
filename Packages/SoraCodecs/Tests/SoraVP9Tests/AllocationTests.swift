import CSoraAllocationProbe
import CodecTestSupport
import SoraCodecs
import SoraMedia
import SoraVP9
import Testing

@Suite struct AllocationTests {
  @Test(
    .enabled(
      if: sora_allocation_count_is_on() != 0,
      "allocations aren't counted in this build (debug, sanitizers, or all packages' tests in one program)"
    ))
  func steadyStateAllocatesNothing() throws {
    #expect(sora_allocation_exclude("libvpx.so") == 1)
    let encoder = try VP9Encoder(
      VideoEncoderSettings(
        width: 320, height: 180, threads: 1, allowsFrameDropping: false))
    let decoder = try VP9Decoder(VideoDecoderSettings(threads: 1))
    let pictures = (0..<8).map { Pictures.frame(320, 180, index: $0) }
    var encoding: UInt64 = 0
    var decoding: UInt64 = 0
    for index in 0..<200 {
      let start = sora_allocation_count()
      let encoded = try encoder.encode(
        pictures[index % 8], forceKeyFrame: false, rtpTimestamp: 0)
      let middle = sora_allocation_count()
      guard let encoded else { continue }
      _ = try decoder.decode(encoded)
      if index >= 160 {
        encoding += middle - start
        decoding += sora_allocation_count() - middle
      }
    }
    #expect(encoding == 0 && decoding == 0, "\(encoding), \(decoding) in 40 frames")
  }
}
