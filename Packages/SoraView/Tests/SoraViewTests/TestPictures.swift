import SoraMedia
import SoraView

/// A picture of one colour.
func solid(
  _ width: Int, _ height: Int, _ y: UInt8, _ u: UInt8, _ v: UInt8, _ format: PixelFormat = .i420
) -> PixelBuffer {
  picture(width, height, format) { _, _ in (y, u, v) }
}

/// A picture whose samples are a function of the place; chroma is that of the upper left of its four pixels.
func picture(
  _ width: Int, _ height: Int, _ format: PixelFormat = .i420,
  _ sample: (Int, Int) -> (UInt8, UInt8, UInt8)
) -> PixelBuffer {
  if format == .i010 {
    return BitDepthConverter(limit: 1).convert(picture(width, height, .i420, sample), to: 10)
  }
  return PixelBuffer(width: width, height: height, format: format) { planes in
    for row in 0..<height {
      for x in 0..<width { planes[0].row(row)[x] = sample(x, row).0 }
    }
    for row in 0..<(height + 1) / 2 {
      for x in 0..<(width + 1) / 2 {
        let (_, u, v) = sample(x * 2, row * 2)
        if format == .nv12 {
          planes[1].row(row)[x * 2] = u
          planes[1].row(row)[x * 2 + 1] = v
        } else {
          planes[1].row(row)[x] = u
          planes[2].row(row)[x] = v
        }
      }
    }
  }
}

/// Red and green above, blue and white below: quarters that tell how a picture is turned.
func quarters(_ width: Int, _ height: Int, _ format: PixelFormat = .i420) -> PixelBuffer {
  let colors: [(UInt8, UInt8, UInt8)] = [
    (81, 90, 240), (145, 54, 34), (41, 240, 110), (235, 128, 128),
  ]
  return picture(width, height, format) { x, y in
    colors[(y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)]
  }
}

func frame(
  _ buffer: PixelBuffer, rotation: VideoRotation = .none,
  colorSpace: VideoColorSpace = .bt601
) -> RawVideoFrame {
  RawVideoFrame(
    buffer: buffer, timestamp: .zero, rotation: rotation, colorSpace: colorSpace)
}

/// Colours by name, as tests say them.
let red: [UInt8] = [255, 0, 0]
let green: [UInt8] = [0, 255, 0]
let blue: [UInt8] = [0, 0, 255]
let white: [UInt8] = [255, 255, 255]
let black: [UInt8] = [0, 0, 0]

/// Whether two colours are the same but for rounding, which each way of converting does a little differently.
func isClose(_ a: [UInt8], _ b: [UInt8], within tolerance: Int = 4) -> Bool {
  zip(a, b).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
}
