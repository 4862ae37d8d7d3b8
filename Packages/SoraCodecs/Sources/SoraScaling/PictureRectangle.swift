import SoraCodecs
public import SoraMedia

/// A part of a picture, in pixels from its top-left corner.
public struct PictureRectangle: Sendable, Hashable {
  public var x: Int
  public var y: Int
  public var width: Int
  public var height: Int

  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// All of a picture.
  public init(of picture: PixelBuffer) {
    self.init(x: 0, y: 0, width: picture.width, height: picture.height)
  }

  /// The largest part of a picture in the middle that has the proportions `width`:`height`, at an even place.
  ///
  /// - Precondition: `width` and `height` are above 0.
  public init(of picture: PixelBuffer, withAspect width: Int, _ height: Int) {
    precondition(width > 0 && height > 0)
    let (w, h) = (Double(picture.width), Double(picture.height))
    let aspect = Double(width) / Double(height)
    let partWidth = max(1, min(picture.width, Int((h * aspect).rounded())))
    let partHeight = max(1, min(picture.height, Int((w / aspect).rounded())))
    self.init(
      x: (picture.width - partWidth) / 2 & ~1, y: (picture.height - partHeight) / 2 & ~1,
      width: partWidth, height: partHeight)
  }
}

/// What is read of a source: its planes from the corner of a rectangle on.
struct SourcePart {
  let y: Samples
  /// U, or U and V interleaved.
  let u: Samples
  /// V; as `u` where they are interleaved.
  let v: Samples
  let isWhole: Bool

  /// Chroma has a sample for two pixels, so the corner moves to even pixels, up to one to the left and up.
  init(_ picture: PixelBuffer, _ wanted: PictureRectangle) throws(CodecError) {
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
    y = Samples(picture.plane(0), from: left, top, width: wanted.width, height: wanted.height)
    switch picture.format {
    case .i420:
      u = Samples(
        picture.plane(1), from: left / 2, top / 2, width: chromaWidth, height: chromaHeight)
      v = Samples(
        picture.plane(2), from: left / 2, top / 2, width: chromaWidth, height: chromaHeight)
    case .nv12:
      u = Samples(
        picture.plane(1), from: left, top / 2, width: chromaWidth, height: chromaHeight)
      v = u
    }
    isWhole = wanted == PictureRectangle(of: picture)
  }
}
