import CodecTestSupport
import Foundation
import SoraCodecs
import SoraMedia
import SoraNAL
import SoraWire

/// Streams of other encoders, cut into access units.
enum AnnexB {
  /// Cuts an H.265 byte stream (§7.4.2.4.4): before a picture's first slice, with what belongs to it in front.
  static func accessUnits(_ stream: [UInt8]) -> [[UInt8]] {
    cut(stream) { unit in
      guard let header = H265NALUnitHeader(unit) else { return .other }
      if header.type.isSlice {
        return unit.byteCount > 2 && unit.u8(2) & 0x80 != 0 ? .firstSlice : .slice
      }
      return (32...35).contains(header.type.rawValue) || header.type == .prefixSEI ? .front : .other
    }
  }

  /// Cuts an H.264 byte stream whose slices start with macroblock 0.
  static func h264AccessUnits(_ stream: [UInt8]) -> [[UInt8]] {
    cut(stream) { unit in
      switch unit.u8(0) & 0x1F {
      case 1, 5: unit.byteCount > 1 && unit.u8(1) & 0x80 != 0 ? .firstSlice : .slice
      case 6...9: .front
      default: .other
      }
    }
  }

  private enum Role {
    /// Comes before the first slice of its access unit.
    case front
    case firstSlice
    case slice
    case other
  }

  private static func cut(_ stream: [UInt8], _ role: (RawSpan) -> Role) -> [[UInt8]] {
    var result: [[UInt8]] = []
    var current: [UInt8] = []
    var hasSlice = false
    var units = AnnexBUnits(stream.rawSpan)
    while let unit = units.nextUnit() {
      let role = role(unit)
      if hasSlice, role == .front || role == .firstSlice {
        result.append(current)
        current = []
        hasSlice = false
      }
      if role == .firstSlice { hasSlice = true }
      current += [0, 0, 0, 1]
      current.append(copying: unit)
    }
    return current.isEmpty ? result : result + [current]
  }
}
