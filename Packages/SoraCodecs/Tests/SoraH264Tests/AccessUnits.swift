import Foundation
import SoraNAL
import SoraWire

/// Files of Annex B byte streams, as access units.
enum AccessUnits {
  static func read(_ url: URL) throws -> [[UInt8]] { split([UInt8](try Data(contentsOf: url))) }

  /// Cuts before the first unit that can't belong to the picture before it (H.264 §7.4.1.2.3): one that goes before
  /// pictures, or a slice that begins at the first macroblock.
  static func split(_ bytes: [UInt8]) -> [[UInt8]] {
    var units: [[UInt8]] = []
    var current: [UInt8] = []
    var hasSlice = false
    var iterator = AnnexBUnits(bytes.rawSpan)
    while let unit = iterator.nextUnit() {
      let type = unit.u8(0) & 0x1F
      let isSlice = type == 1 || type == 5
      var reader = RBSPReader(unit.part(from: 1))
      let isFirst = isSlice && (try? reader.readUnsigned()) == 0
      if hasSlice, (6...9).contains(type) || isFirst {
        units.append(current)
        current = []
        hasSlice = false
      }
      current += [0, 0, 0, 1]
      current.append(copying: unit)
      hasSlice = hasSlice || isSlice
    }
    return hasSlice ? units + [current] : units
  }
}
