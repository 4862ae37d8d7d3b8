package import SoraMedia

#if canImport(Glibc)
  import Glibc
#endif

/// Moving pictures made from a frame's index: smooth shades, a few edges, and something that moves.
package enum Pictures {
  package static func luma(_ x: Int, _ y: Int, _ index: Int) -> UInt8 {
    let shade = 96 + ((x + 2 * index) % 128) / 2 + ((y + index) % 96) / 3
    let inBox = (x - index * 3 % 97).magnitude < 24 && (y - 20).magnitude < 16
    return UInt8(clamping: inBox ? 210 : shade)
  }

  /// A picture whose rows start `padding` bytes apart from where they would otherwise, which those of 10 bits don't.
  package static func make(
    _ width: Int, _ height: Int, index: Int, format: PixelFormat = .i420, padding: Int = 0
  ) -> PixelBuffer {
    guard format.bitDepth == 8 else { return deep(make(width, height, index: index)) }
    let chromaWidth = (width + 1) / 2
    let chromaHeight = (height + 1) / 2
    let yStride = width + padding
    let rowBytes = format == .nv12 ? chromaWidth * 2 : chromaWidth
    let cStride = rowBytes + padding
    let size = yStride * height + cStride * chromaHeight * (format.planeCount - 1)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1)
    memory.initializeMemory(as: UInt8.self, repeating: 0x5A, count: size)
    for y in 0..<height {
      for x in 0..<width {
        memory.storeBytes(of: luma(x, y, index), toByteOffset: y * yStride + x, as: UInt8.self)
      }
    }
    let u = memory + yStride * height
    for y in 0..<chromaHeight {
      for x in 0..<chromaWidth {
        let values = (UInt8(100 + x % 64 / 2), UInt8(140 - y % 64 / 2))
        if format == .i420 {
          u.storeBytes(of: values.0, toByteOffset: y * cStride + x, as: UInt8.self)
          u.storeBytes(
            of: values.1, toByteOffset: (y + chromaHeight) * cStride + x, as: UInt8.self)
        } else {
          u.storeBytes(of: values.0, toByteOffset: y * cStride + 2 * x, as: UInt8.self)
          u.storeBytes(of: values.1, toByteOffset: y * cStride + 2 * x + 1, as: UInt8.self)
        }
      }
    }
    let address = UInt(bitPattern: memory)
    let free: @Sendable () -> Void = { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
    guard format == .nv12 else {
      return PixelBuffer(
        width: width, height: height, y: memory, yStride: yStride, u: u, uStride: cStride,
        v: u + cStride * chromaHeight, vStride: cStride, release: free)
    }
    return PixelBuffer(
      width: width, height: height, y: memory, yStride: yStride, uv: u, uvStride: cStride,
      release: free)
  }

  /// The picture with 10 bits a sample.
  package static func deep(_ picture: PixelBuffer) -> PixelBuffer {
    BitDepthConverter(limit: 1).convert(picture, to: 10)
  }

  /// The picture with 8 bits a sample.
  package static func shallow(_ picture: PixelBuffer) -> PixelBuffer {
    BitDepthConverter(limit: 1).convert(picture, to: 8)
  }

  package static func frame(
    _ width: Int, _ height: Int, index: Int, format: PixelFormat = .i420, padding: Int = 0,
    fps: Int = 30
  ) -> RawVideoFrame {
    RawVideoFrame(
      buffer: make(width, height, index: index, format: format, padding: padding),
      timestamp: Instant(nanoseconds: Int64(index) * 1_000_000_000 / Int64(fps)))
  }

  /// Noise over the moving picture, so that rate control has something to do.
  package static func noisyFrame(
    _ width: Int, _ height: Int, index: Int, random: RandomSource, fps: Int = 30
  ) -> RawVideoFrame {
    let buffer = PixelBuffer(width: width, height: height) { planes in
      for (number, plane) in planes.enumerated() {
        for y in 0..<plane.height {
          let row = plane.row(y)
          for x in 0..<plane.width {
            let noise = number == 0 ? UInt8(truncatingIfNeeded: random.next() & 31) : 0
            row[x] = (number == 0 ? luma(x, y, index) / 2 : 120) &+ noise
          }
        }
      }
    }
    return RawVideoFrame(
      buffer: buffer,
      timestamp: Instant(nanoseconds: Int64(index) * 1_000_000_000 / Int64(fps)))
  }

  /// PSNR of all samples in decibels, of 8 bits; both in three planes and of one size, or 0.
  package static func psnr(_ a: PixelBuffer, _ b: PixelBuffer) -> Double {
    let (a, b) = (shallow(a), shallow(b))
    guard a.width == b.width, a.height == b.height, a.format == .i420, b.format == .i420 else {
      return 0
    }
    var sum = 0
    var count = 0
    for index in 0..<3 {
      let p = a.plane(index)
      let q = b.plane(index)
      for y in 0..<p.height {
        let r = p.row(y)
        let s = q.row(y)
        for x in 0..<p.width {
          let d = Int(r[x]) - Int(s[x])
          sum += d * d
        }
      }
      count += p.width * p.height
    }
    return sum == 0 ? 99 : 10 * log10(255 * 255 * Double(count) / Double(sum))
  }

  /// The samples of a picture in three planes without padding, as `vpxdec --i420` writes them; two bytes each, little-endian, for 10
  /// bits.
  package static func bytes(_ buffer: PixelBuffer) -> [UInt8] {
    (0..<3).flatMap { index in
      let plane = buffer.plane(index)
      return (0..<plane.height).flatMap { Array(plane.row($0)) }
    }
  }
}
