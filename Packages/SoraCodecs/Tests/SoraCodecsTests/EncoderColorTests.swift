import CodecTestSupport
import SoraCodecs
import SoraMedia
import Synchronization
import Testing

/// What the driver makes of frames' colours, whatever the library.
@Suite struct EncoderColorTests {
  private let journal = FakeJournal()
  private static let full = VideoColorSpace(matrix: .bt601, isFullRange: true)

  private func driver<Kind: FakeLibrary>(
    _: Kind.Type, colors: VideoColorSpace? = nil
  ) throws -> EncoderDriver<FakeAdapter<Kind>> {
    try FakeJournal.$current.withValue(journal) {
      try EncoderDriver<FakeAdapter<Kind>>(
        VideoEncoderSettings(width: 64, height: 48, colorSpace: colors))
    }
  }

  private func frame(_ index: Int, _ space: VideoColorSpace?, _ format: PixelFormat = .i420)
    -> RawVideoFrame
  {
    var frame = Pictures.frame(64, 48, index: index, format: format)
    frame.statedColorSpace = space
    return frame
  }

  private func encode(_ encoder: any VideoEncoder, _ spaces: [VideoColorSpace?]) throws {
    for (index, space) in spaces.enumerated() {
      _ = try encoder.encode(frame(index, space), forceKeyFrame: false, rtpTimestamp: 0)
    }
  }

  @Test func otherColorsStartTheLibraryAnewWithAKeyFrame() throws {
    let encoder = try driver(AbleLibrary.self)
    try encode(encoder, [nil, nil, .bt709, .bt709, Self.full, .bt601])
    #expect(encoder.settings.colorSpace == .bt601)
    #expect(
      journal.take() == [
        "open 64x48 1000000", "key", "frame", "close", "open 64x48 1000000 bt709", "key", "frame",
        "close", "open 64x48 1000000 bt601 full", "key", "close", "open 64x48 1000000 bt601", "key",
      ])
  }

  /// A source that states its colours now and then isn't worth a key frame each time.
  @Test func whatIsNotSaidIsWhatItIsTakenFor() throws {
    let encoder = try driver(AbleLibrary.self, colors: .bt601)
    try encode(encoder, [nil, .bt601, nil, .bt601])
    #expect(journal.take() == ["open 64x48 1000000 bt601", "key", "frame", "frame", "frame"])
    try encode(encoder, [.bt709, nil])
    #expect(encoder.settings.colorSpace == nil)
    #expect(
      journal.take() == [
        "close", "open 64x48 1000000 bt709", "key", "close", "open 64x48 1000000", "key",
      ])
  }

  @Test func anEncoderStartsWithTheColorsOfItsSettings() throws {
    let encoder = try driver(AbleLibrary.self, colors: .bt709)
    try encode(encoder, [.bt709, .bt709])
    #expect(journal.take() == ["open 64x48 1000000 bt709", "key", "frame"])
  }

  @Test(arguments: [PixelFormat.i420, .nv12])
  func whatAStreamCannotSayIsConverted(_ format: PixelFormat) throws {
    let encoder = try driver(ColorlessLibrary.self)
    let converter = ColorSpaceConverter()
    for (index, space) in ([nil, .bt709, Self.full, .bt601] as [VideoColorSpace?])
      .enumerated()
    {
      let source = frame(index, space, format)
      _ = try encoder.encode(source, forceKeyFrame: false, rtpTimestamp: 0)
      let expected = converter.convert(source.buffer, from: source.colorSpace, to: .bt601)
      let chroma = journal.chroma.withLock { $0 }
      #expect(chroma.isInterleaved == (format == .nv12))
      // The second byte of U, which is V's first where they are interleaved.
      #expect(chroma.u == expected.plane(1).row(0)[1])
      let v = format == .nv12 ? expected.plane(1).row(0)[1] : expected.plane(2).row(0)[0]
      #expect(chroma.v == v)
    }
    // No key frame but the first: the stream stays what it is.
    #expect(journal.take() == ["open 64x48 1000000", "key", "frame", "frame", "frame"])
  }
}
