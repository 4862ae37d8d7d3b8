public import SoraMedia

extension PixelRectangle {
  /// Reads `WIDTHxHEIGHT+X+Y`, as X11's tools write it, within X11's bounds; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: "+", omittingEmptySubsequences: false)
    let size = (parts.first ?? "").split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 3, size.count == 2, let width = Int(size[0]), let height = Int(size[1]),
      let x = Int(parts[1]), let y = Int(parts[2]), (1...32_767).contains(width),
      (1...32_767).contains(height), (0...32_767).contains(x), (0...32_767).contains(y)
    else { return nil }
    self.init(x: x, y: y, width: width, height: height)
  }

  /// Without the last column and row where there is an odd number of them: encoders take pairs.
  var even: PixelRectangle {
    PixelRectangle(x: x, y: y, width: width & ~1, height: height & ~1)
  }

  /// Whether nothing is left for an encoder.
  var isEmpty: Bool { width < 2 || height < 2 }
}
