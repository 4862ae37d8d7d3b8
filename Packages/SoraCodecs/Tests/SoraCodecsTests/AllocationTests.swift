import CSoraMallocCount
import CodecTestSupport
import SoraCodecs
import SoraMedia
import Testing

@Suite struct AllocationTests {
  @Test(
    .enabled(
      if: sora_malloc_count_is_telling() != 0,
      "allocations aren't counted in this build (debug, or sanitizers)"
    ), arguments: CodecUnderTest.all, PixelFormat.allCases)
  func steadyStateAllocatesNothing(_ codec: CodecUnderTest, _ format: PixelFormat) throws {
    // Which streams say, and where they can't, pictures are converted.
    for space in [nil, VideoColorSpace.bt709] { try measure(codec, format, space) }
  }

  private func measure(_ codec: CodecUnderTest, _ format: PixelFormat, _ space: VideoColorSpace?)
    throws
  {
    let encoder = try codec.encoder(
      VideoEncoderSettings(width: 320, height: 180, threads: 1, allowsFrameDropping: false))
    let decoder = try codec.decoder(VideoDecoderSettings(threads: 1))
    let pictures = (0..<8).map { Pictures.frame(320, 180, index: $0, format: format) }
    var encodingCount: UInt64 = 0
    var decodingCount: UInt64 = 0
    for index in 0..<200 {
      // What the library allocates is its own; it is loaded by now.
      if index == 150 {
        for file in codec.libraryFiles { #expect(sora_malloc_exclude(file) == 1, "\(file)") }
      }
      var source = pictures[index % 8]
      source.statedColorSpace = space
      source.timestamp = Instant(nanoseconds: Int64(index) * 1_000_000_000 / 30)
      let start = sora_malloc_count_of_own()
      let encoded = try encoder.encode(source, forceKeyFrame: false, rtpTimestamp: 0)
      let middle = sora_malloc_count_of_own()
      guard let encoded else { continue }
      _ = try decoder.decode(encoded)
      if index >= 160 {
        encodingCount += middle - start
        decodingCount += sora_malloc_count_of_own() - middle
      }
    }
    #expect(
      encodingCount == 0 && decodingCount == 0,
      "\(format), \(space == nil ? "nothing" : "BT.709") said: \(encodingCount), \(decodingCount) in 40 frames"
    )
  }
}
