import CSoraAllocationProbe
import CodecTestSupport
import SoraCodecs
import SoraMedia
import SoraX265
import Testing

@Suite struct AllocationTests {
  @Test(
    .enabled(
      if: sora_allocation_count_is_on() != 0,
      "allocations aren't counted in this build (debug, sanitizers, or all packages' tests in one program)"
    ), arguments: [PixelFormat.i420, .nv12], Decoder.allCases)
  func steadyStateAllocatesNothing(_ format: PixelFormat, _ implementation: Decoder) throws {
    // What the libraries allocate through C++ comes from its runtime.
    for library in [
      "libx265.so", "libde265.so", "libavcodec.so", "libavutil.so", "libstdc++.so",
    ] {
      #expect(sora_allocation_exclude(library) == 1, "\(library)")
    }
    let encoder = try X265Encoder(
      VideoEncoderSettings(
        width: 320, height: 180, threads: 1, allowsFrameDropping: false))
    let decoder = try implementation.make(VideoDecoderSettings(threads: 1))
    let pictures = (0..<8).map { Pictures.frame(320, 180, index: $0, format: format) }
    var encoding: UInt64 = 0
    var decoding: UInt64 = 0
    for index in 0..<160 {
      let start = sora_allocation_count()
      let encoded = try encoder.encode(
        pictures[index % 8], forceKeyFrame: false, rtpTimestamp: 0)
      let middle = sora_allocation_count()
      guard let encoded else { continue }
      _ = try decoder.decode(encoded)
      if index >= 120 {
        encoding += middle - start
        decoding += sora_allocation_count() - middle
      }
    }
    #expect(encoding == 0 && decoding == 0, "\(encoding), \(decoding) in 40 frames")
  }
}
