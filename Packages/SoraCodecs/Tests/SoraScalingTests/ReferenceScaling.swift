import SoraMedia

/// Scaling the slow and plain way, as an oracle: every sample is the mean of the source's area that it covers, or lies
/// between its four neighbours where a picture grows.
enum ReferenceScaling {
  static func scale(_ source: PixelBuffer, width: Int, height: Int) -> PixelBuffer {
    precondition(source.format == .i420)
    return PixelBuffer(width: width, height: height) { planes in
      for (index, target) in planes.enumerated() { scale(source.plane(index), into: target) }
    }
  }

  private static func scale(_ source: Plane, into target: MutablePlane) {
    let xs = Double(source.width) / Double(target.width)
    let ys = Double(source.height) / Double(target.height)
    for y in 0..<target.height {
      let row = target.row(y)
      for x in 0..<target.width {
        let value =
          xs >= 1 && ys >= 1
          ? mean(source, Double(x) * xs, Double(y) * ys, xs, ys)
          : between(source, (Double(x) + 0.5) * xs - 0.5, (Double(y) + 0.5) * ys - 0.5)
        row[x] = UInt8(clamping: Int(value.rounded()))
      }
    }
  }

  private static func mean(
    _ source: Plane, _ left: Double, _ top: Double, _ width: Double, _ height: Double
  ) -> Double {
    var sum = 0.0
    for y in Int(top)..<min(source.height, Int((top + height).rounded(.up))) {
      let rows = min(Double(y + 1), top + height) - max(Double(y), top)
      for x in Int(left)..<min(source.width, Int((left + width).rounded(.up))) {
        let columns = min(Double(x + 1), left + width) - max(Double(x), left)
        sum += Double(source.row(y)[x]) * rows * columns
      }
    }
    return sum / (width * height)
  }

  private static func between(_ source: Plane, _ x: Double, _ y: Double) -> Double {
    let x = min(max(0, x), Double(source.width - 1))
    let y = min(max(0, y), Double(source.height - 1))
    let (left, top) = (Int(x), Int(y))
    let (right, bottom) = (min(left + 1, source.width - 1), min(top + 1, source.height - 1))
    let (fx, fy) = (x - Double(left), y - Double(top))
    let upper =
      Double(source.row(top)[left]) * (1 - fx) + Double(source.row(top)[right]) * fx
    let lower =
      Double(source.row(bottom)[left]) * (1 - fx) + Double(source.row(bottom)[right]) * fx
    return upper * (1 - fy) + lower * fy
  }
}
