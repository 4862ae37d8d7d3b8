import SoraWire

/// Writers of the chunks, parameters and causes that are rare: each is an array of its own, padded.
enum ChunkBytes {
  static func chunk(_ type: UInt8, flags: UInt8 = 0, _ value: [UInt8] = []) -> [UInt8] {
    var bytes: [UInt8] = [type, flags]
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: value.count + 4))
    bytes += value
    pad(&bytes)
    return bytes
  }

  static func parameter(_ type: UInt16, _ value: [UInt8] = []) -> [UInt8] {
    var bytes = [UInt8](bigEndian: type)
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: value.count + 4))
    bytes += value
    pad(&bytes)
    return bytes
  }

  /// An ABORT with one cause. Words are cut, so that the chunk fits into any packet.
  static func abort(cause: UInt16, _ text: String, reflected: Bool = false) -> [UInt8] {
    chunk(
      ChunkType.abort, flags: reflected ? ChunkFlags.reflectedTag : 0,
      parameter(cause, Array(text.utf8.prefix(256))))
  }

  static func error(cause: UInt16, _ value: [UInt8]) -> [UInt8] {
    chunk(ChunkType.error, parameter(cause, Array(value.prefix(512))))
  }

  private static func pad(_ bytes: inout [UInt8]) {
    while bytes.count & 3 != 0 { bytes.append(0) }
  }
}
