import SoraWire
import Testing

@Suite struct ByteReaderTests {
  private let bytes: [UInt8] = (0..<32).map { UInt8(truncatingIfNeeded: $0 * 7 + 130) }

  /// What the bytes say, worked out one by one.
  private func value(_ offset: Int, _ count: Int) -> UInt64 {
    bytes[offset..<offset + count].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// One read of each kind at `offset`: what it gave, and where the reader stood then. A macro can't hold a reader.
  private func read(_ size: Int, at offset: Int, of part: [UInt8]) -> (UInt64?, Int, Int, Bool) {
    var reader = ByteReader(part.rawSpan)
    guard reader.skip(offset) else { return (nil, -1, -1, false) }
    let value =
      switch size {
      case 1: reader.u8().map(UInt64.init)
      case 2: reader.u16().map(UInt64.init)
      case 3: reader.u24().map(UInt64.init)
      case 4: reader.u32().map(UInt64.init)
      default: reader.u64()
      }
    return (value, reader.offset, reader.remaining, reader.isAtEnd)
  }

  /// Every kind of read, at every offset of every length: the value where it fits, else `nil` and nothing moved.
  @Test func everyReadAtEveryLength() {
    for length in 0...bytes.count {
      for offset in 0...length {
        for size in [1, 2, 3, 4, 8] {
          let (read, position, left, isAtEnd) = read(size, at: offset, of: Array(bytes[..<length]))
          let fits = offset + size <= length
          #expect(read == (fits ? value(offset, size) : nil))
          #expect(position == (fits ? offset + size : offset))
          #expect(left == length - position)
          #expect(isAtEnd == (position == length))
        }
      }
    }
  }

  @Test func takesNoMoreThanThereIs() {
    for length in 0...8 {
      let part = Array(bytes[..<length])
      for count in [-1, .min, .max] + Array(0...9) {
        var taken: [UInt8]?
        var rest: [UInt8] = []
        var reader = ByteReader(part.rawSpan)
        if let span = reader.take(count) { taken = [UInt8](copying: span) }
        let offset = reader.offset
        rest = [UInt8](copying: reader.rest())
        let isAtEnd = reader.isAtEnd
        let fits = (0...length).contains(count)
        #expect(taken == (fits ? Array(part[..<count]) : nil))
        #expect(offset == (fits ? count : 0))
        #expect(rest == Array(part[offset...]) && isAtEnd)
        var second = ByteReader(part.rawSpan)
        let isSkipped = second.skip(count)
        #expect(isSkipped == fits)
        // Once more, from where adding the count would overflow.
        let isSkippedAgain = second.skip(.max)
        #expect(!isSkippedAgain)
      }
    }
  }

  private func leb128(_ bytes: [UInt8]) -> Int? {
    var reader = ByteReader(bytes.rawSpan)
    return reader.leb128()
  }

  @Test func leb128RoundTripsAndBounds() {
    for value in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_456, 4_294_967_295]
    {
      var written = [UInt8](repeating: 0xEE, count: 9)
      let count = written.withMutableRawSpan { $0.putLEB128(value, at: 1) }
      #expect(count == LEB128.byteCount(value))
      #expect(written[0] == 0xEE && written[(1 + count)...].allSatisfy { $0 == 0xEE })
      #expect(leb128(Array(written[1...count])) == value)
      for length in 0..<count { #expect(leb128(Array(written[1..<1 + length])) == nil) }
    }
    // Longer than need be is allowed; more than 32 bits or eight bytes isn't.
    #expect(leb128([0x81, 0x80, 0x80, 0x80, 0x00]) == 1)
    #expect(leb128([0xFF, 0xFF, 0xFF, 0xFF, 0x1F]) == nil)
    #expect(leb128([0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]) == 0)
    #expect(leb128([0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]) == nil)
  }

  @Test func storesWhatLoadsRead() {
    var memory = [UInt8](repeating: 0, count: 24)
    memory.withMutableRawSpan { memory in
      memory.put8(0x12, at: 1)
      memory.put16(0x3456, at: 2)
      memory.put24(0xFF_789ABC, at: 4)
      memory.put32(0xDEF0_1234, at: 7)
      memory.put64(0x0123_4567_89AB_CDEF, at: 11)
    }
    #expect(
      memory == [
        0, 0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0, 0x12, 0x34, 0x01, 0x23, 0x45, 0x67, 0x89,
        0xAB, 0xCD, 0xEF, 0, 0, 0, 0, 0,
      ])
    let written = memory
    let read = written.rawSpan
    let (first, second, third) = (read.u8(1), read.u16(2), read.u24(4))
    let (fourth, fifth) = (read.u32(7), read.u64(11))
    #expect(first == 0x12 && second == 0x3456 && third == 0x78_9ABC)
    #expect(fourth == 0xDEF0_1234 && fifth == 0x0123_4567_89AB_CDEF)
    let copied: [UInt8] = [9, 8, 7]
    memory.withMutableRawSpan { memory in
      memory.put(copied.rawSpan, at: 21)
      memory.put([UInt8]().rawSpan, at: 24)
      memory.zero(1, 18)
      memory.zero(24, 0)
      var part = memory.part(0, 2)
      part.put8(5, at: 1)
    }
    #expect(memory == [0, 5] + [UInt8](repeating: 0, count: 19) + copied)
  }

  @Test func arraysAndTextFromBytes() {
    #expect([UInt8](bigEndian: UInt32(0x0102_0304)) == [1, 2, 3, 4])
    #expect([UInt8](bigEndian: UInt8(9)) == [9])
    #expect([UInt8](bigEndian: UInt64.max - 1) == [255, 255, 255, 255, 255, 255, 255, 254])
    var list: [UInt8] = [1]
    list.append(copying: bytes.rawSpan.part(2, 3))
    #expect(list == [1] + bytes[2..<5])
    let text: [UInt8] = Array("a\u{E9}".utf8) + [0xFF]
    #expect(String(repairing: text.rawSpan) == "a\u{E9}\u{FFFD}")
    #expect(String(repairing: [UInt8]().rawSpan) == "")
  }

  #if os(Linux)
    /// A load or store beyond the end stops the program and touches nothing, in release builds too.
    @Test func accessBeyondTheEndTraps() async {
      await #expect(processExitsWith: .failure) {
        let four: [UInt8] = [1, 2, 3, 4]
        _ = four.rawSpan.u32(1)
      }
      await #expect(processExitsWith: .failure) {
        let four: [UInt8] = [1, 2, 3, 4]
        _ = four.rawSpan.u16(-1)
      }
      await #expect(processExitsWith: .failure) {
        let four: [UInt8] = [1, 2, 3, 4]
        _ = four.rawSpan.part(3, 2).byteCount
      }
      await #expect(processExitsWith: .failure) {
        var four: [UInt8] = [1, 2, 3, 4]
        four.withMutableRawSpan { $0.put16(7, at: 3) }
      }
      await #expect(processExitsWith: .failure) {
        var four: [UInt8] = [1, 2, 3, 4]
        let five: [UInt8] = [1, 2, 3, 4, 5]
        four.withMutableRawSpan { $0.put(five.rawSpan, at: 0) }
      }
    }
  #endif
}
