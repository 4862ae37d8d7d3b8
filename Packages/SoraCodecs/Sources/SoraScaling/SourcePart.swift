import SoraCodecs
import SoraMedia

/// What is read of a source: its planes from the corner of a rectangle on.
struct SourcePart {
  let y: Samples
  /// U, or U and V interleaved.
  let u: Samples
  /// V; as `u` where they are interleaved.
  let v: Samples
  let isWhole: Bool

  /// Chroma has a sample for two pixels, so the corner moves to even pixels, up to one to the left and up.
  init(_ picture: PixelBuffer, _ wanted: PixelRectangle) throws(CodecError) {
    guard wanted.x >= 0, wanted.y >= 0, wanted.width > 0, wanted.height > 0,
      wanted.width <= picture.width, wanted.height <= picture.height,
      wanted.x <= picture.width - wanted.width, wanted.y <= picture.height - wanted.height
    else {
      throw .invalidSetting(
        name: "crop",
        value: "\(wanted.width)x\(wanted.height) at (\(wanted.x), \(wanted.y))",
        allowed: "inside of \(picture.width)x\(picture.height)")
    }
    let (left, top) = (wanted.x & ~1, wanted.y & ~1)
    let chromaWidth = (wanted.width + 1) / 2
    let chromaHeight = (wanted.height + 1) / 2
    let bytes = picture.format.bytesPerSample
    y = Samples(
      picture.plane(0), from: left * bytes, top, width: wanted.width, height: wanted.height)
    switch picture.format {
    case .i420, .i010:
      u = Samples(
        picture.plane(1), from: left / 2 * bytes, top / 2, width: chromaWidth, height: chromaHeight)
      v = Samples(
        picture.plane(2), from: left / 2 * bytes, top / 2, width: chromaWidth, height: chromaHeight)
    case .nv12:
      u = Samples(
        picture.plane(1), from: left, top / 2, width: chromaWidth, height: chromaHeight)
      v = u
    }
    isWhole = wanted == PixelRectangle(of: picture)
  }
}
