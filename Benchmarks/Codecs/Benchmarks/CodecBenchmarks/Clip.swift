import Foundation
import SoraCapture
import SoraMedia

/// What a clip shows. Each is a pure function of the frame's number, so that every run sees the same bytes.
enum Scene: String, CaseIterable, Sendable {
  /// The moving test pattern: smooth, all of it in motion.
  case pattern
  /// A camera's picture: soft shapes that sway, under sensor noise.
  case noise
  /// Lines of text that scroll: hard edges, most of it still from line to line.
  case text
}

/// A picture size with the bit rate that calls give it.
struct ClipSize: Sendable, Hashable {
  var name: String
  var width: Int
  var height: Int
  var bitsPerSecond: Int

  static let all = [
    ClipSize(name: "360p", width: 640, height: 360, bitsPerSecond: 700_000),
    ClipSize(name: "540p", width: 960, height: 540, bitsPerSecond: 1_300_000),
    ClipSize(name: "720p", width: 1280, height: 720, bitsPerSecond: 2_000_000),
    ClipSize(name: "1080p", width: 1920, height: 1080, bitsPerSecond: 4_000_000),
  ]
}

/// Pictures at 30 frames a second, in memory for us and as a Y4M file for the tools.
final class Clip: Sendable {
  static let framesPerSecond = 30.0
  let scene: Scene
  let size: ClipSize
  let frames: [RawVideoFrame]
  let path: String

  init(_ scene: Scene, _ size: ClipSize, frameCount: Int, folder: String) throws {
    self.scene = scene
    self.size = size
    path = "\(folder)/\(scene.rawValue)-\(size.name).y4m"
    let painter = Painter(scene, width: size.width, height: size.height)
    frames = (0..<frameCount).map { index in
      RawVideoFrame(
        buffer: painter.paint(index),
        timestamp: Instant(nanoseconds: Int64(index) * 1_000_000_000 / Int64(Self.framesPerSecond)))
    }
    try write()
  }

  /// The same at another bit rate.
  init(_ clip: Clip, bitsPerSecond: Int) {
    scene = clip.scene
    var size = clip.size
    size.bitsPerSecond = bitsPerSecond
    self.size = size
    frames = clip.frames
    path = clip.path
  }

  private func write() throws {
    var data = Data("YUV4MPEG2 W\(size.width) H\(size.height) F30:1 Ip A1:1 C420jpeg\n".utf8)
    for frame in frames {
      data.append(Data("FRAME\n".utf8))
      for index in 0..<3 {
        let plane = frame.buffer.plane(index)
        for y in 0..<plane.height {
          data.append(
            (plane.base + y * plane.stride).assumingMemoryBound(to: UInt8.self), count: plane.width)
        }
      }
    }
    try data.write(to: URL(fileURLWithPath: path))
  }
}

/// Draws the frames of a scene.
struct Painter {
  private let scene: Scene
  private let width: Int
  private let height: Int
  private let pattern: TestPattern
  /// Noise of a few frames' worth, read from another place in each frame.
  private let grain: [Int8]
  private let glyphs: [[UInt8]]

  init(_ scene: Scene, width: Int, height: Int) {
    self.scene = scene
    self.width = width
    self.height = height
    pattern = TestPattern(width: width, height: height)
    var random = SplitMix(seed: 1)
    grain = scene == .noise ? (0..<(width * height + 65_536)).map { _ in random.grain() } : []
    // Letters are 5 dots wide and 7 high, as random as an unknown script looks.
    glyphs = (0..<64).map { _ in (0..<7).map { _ in UInt8(truncatingIfNeeded: random.next()) & 31 }
    }
  }

  func paint(_ index: Int) -> PixelBuffer {
    switch scene {
    case .pattern: pattern.frame(index: UInt32(index), milliseconds: UInt32(index * 33))
    case .noise: paintNoise(index)
    case .text: paintText(index)
    }
  }

  private func paintNoise(_ index: Int) -> PixelBuffer {
    let sway = Int(30 * sin(Double(index) / 20))
    let offset = index * 7_919 % 65_536
    return PixelBuffer(width: width, height: height) { planes in
      for y in 0..<height {
        let row = planes[0].row(y)
        let slope = y * 90 / height
        for x in 0..<width {
          let shape = ((x + sway + y / 2) / 48 + (y + sway) / 64) & 3
          let value = 60 + slope + shape * 22 + Int(grain[offset + y * width + x])
          row.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: x, as: UInt8.self)
        }
      }
      fillChroma(planes, u: 118, v: 136)
    }
  }

  private func paintText(_ index: Int) -> PixelBuffer {
    let dot = max(1, height / 360)
    let cell = (width: 6 * dot, height: 12 * dot)
    let scroll = index * dot
    return PixelBuffer(width: width, height: height) { planes in
      for y in 0..<height {
        let row = planes[0].row(y)
        let line = (y + scroll) / cell.height
        let dotRow = (y + scroll) % cell.height / dot
        for x in 0..<width {
          let column = x / cell.width
          let glyph = glyphs[(line &* 31 &+ column &* 17 &+ line &* column) & 63]
          // Every seventh cell is the space between words.
          let isInk =
            dotRow < 7 && (column + line) % 7 != 0 && x % cell.width / dot < 5
            && glyph[dotRow] >> UInt8(x % cell.width / dot) & 1 == 1
          row.storeBytes(of: isInk ? 30 : 225, toByteOffset: x, as: UInt8.self)
        }
      }
      fillChroma(planes, u: 128, v: 128)
    }
  }

  private func fillChroma(_ planes: [MutablePlane], u: UInt8, v: UInt8) {
    for (plane, value) in zip(planes.dropFirst(), [u, v]) {
      for y in 0..<plane.height {
        plane.row(y).initializeMemory(as: UInt8.self, repeating: value)
      }
    }
  }
}

/// Sebastiano Vigna's SplitMix64: small, seeded, and good enough for grain.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// About normal, with a deviation of 3: a sum of four dice.
  mutating func grain() -> Int8 {
    let bits = next()
    let sum = (0..<4).reduce(0) { $0 + Int(bits >> (16 * UInt64($1)) & 0xFFFF) }
    return Int8(clamping: (sum - 131_070) / 12_600)
  }
}
