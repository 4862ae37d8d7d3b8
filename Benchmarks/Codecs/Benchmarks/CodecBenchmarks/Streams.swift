import Foundation
import SoraCodecs
import SoraMedia

/// The frames of a file that a tool wrote.
enum StreamFile {
  static func read(_ path: String, _ kind: VideoCodecKind) throws -> [EncodedFrame] {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let bytes = [UInt8](data)
    let frames =
      switch kind {
      case .vp8, .vp9, .av1: ivf(bytes)
      case .h264: accessUnits(bytes, delimiter: 9, slices: 1...5) { $0 & 31 }
      case .h265: accessUnits(bytes, delimiter: 35, slices: 0...31) { $0 >> 1 & 63 }
      }
    return frames.enumerated().map { index, payload in
      EncodedFrame(
        payload: EncodedBuffer(Array(payload)), isKeyFrame: index == 0,
        rtpTimestamp: UInt32(index * 3_000),
        timestamp: Instant(nanoseconds: Int64(index) * 33_333_333))
    }
  }

  /// IVF: a header of 32 bytes, then a length, a time of 8 bytes, and the frame.
  private static func ivf(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var frames: [ArraySlice<UInt8>] = []
    var position = 32
    while position + 12 <= bytes.count {
      let length = (0..<4).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
      position += 12
      guard position + length <= bytes.count else { break }
      frames.append(bytes[position..<position + length])
      position += length
    }
    return frames
  }

  /// Annex B with an access unit delimiter in front of each access unit but perhaps the first: x265 leaves it out there
  /// unless it repeats the parameter sets.
  private static func accessUnits(
    _ bytes: [UInt8], delimiter: UInt8, slices: ClosedRange<UInt8>, typeOf: (UInt8) -> UInt8
  ) -> [ArraySlice<UInt8>] {
    var starts: [Int] = []
    var beginsWithoutDelimiter = false
    var position = 0
    while position + 3 < bytes.count {
      if bytes[position] == 0, bytes[position + 1] == 0, bytes[position + 2] == 1 {
        let type = typeOf(bytes[position + 3])
        if type == delimiter {
          starts.append(position > 0 && bytes[position - 1] == 0 ? position - 1 : position)
        } else if starts.isEmpty, slices.contains(type) {
          beginsWithoutDelimiter = true
        }
        position += 3
      } else {
        position += 1
      }
    }
    // Only parameter sets in front of the first delimiter belong to the unit behind it.
    if beginsWithoutDelimiter || starts.isEmpty { starts.insert(0, at: 0) } else { starts[0] = 0 }
    starts.append(bytes.count)
    return zip(starts, starts.dropFirst()).map { bytes[$0..<$1] }
  }
}
