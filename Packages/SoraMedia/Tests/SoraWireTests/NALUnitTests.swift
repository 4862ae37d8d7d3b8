import SoraMedia
import SoraWire
import Testing

@Suite struct NALUnitTests {
  private func units(_ bytes: [UInt8]) -> [[UInt8]] {
    var found = AnnexBUnits(bytes.rawSpan)
    var units: [[UInt8]] = []
    while let unit = found.nextUnit() { units.append([UInt8](copying: unit)) }
    return units
  }

  @Test func startCodesOfThreeAndFourBytesSeparateUnits() {
    #expect(
      units([0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68, 3, 0, 0, 0, 1, 0x65, 4, 5])
        == [[0x67, 1, 2], [0x68, 3], [0x65, 4, 5]])
  }

  @Test func whatIsNoUnitIsLeftOut() {
    #expect(units([]) == [])
    #expect(units([0, 0]) == [])
    #expect(units([1, 2, 3, 4]) == [])
    #expect(units([0, 0, 1]) == [])
    #expect(units([0, 0, 1, 0, 0, 1, 0, 0, 0, 1]) == [])
    #expect(units([9, 9, 0, 0, 1, 7]) == [[7]])
    // Zero bytes behind a unit are padding (H.264 §B.1.1, trailing_zero_8bits).
    #expect(units([0, 0, 1, 7, 0, 0, 0, 0, 0, 1, 8, 0, 0]) == [[7], [8]])
    #expect(units([0, 0, 1, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 3]) == [[0, 1, 0, 0, 2], [0, 0, 3]])
  }

  @Test func randomUnitsComeBack() {
    let random = RandomSource(seed: 1)
    for _ in 0..<500 {
      var stream: [UInt8] = []
      var expected: [[UInt8]] = []
      for _ in 0..<(random.next() % 6) {
        // Bytes of 0 to 3, so that what looks almost like a start code is frequent; 2 keeps them apart.
        var unit = (0..<Int(random.next() % 12)).map { _ in UInt8(random.next() & 3) }
        for index in unit.indices.dropFirst(2)
        where unit[index] < 2 && unit[index - 1] == 0 && unit[index - 2] == 0 {
          unit[index] = 2
        }
        unit.append(2)
        expected.append(unit)
        stream += random.next() & 1 == 0 ? [0, 0, 1] : [0, 0, 0, 1]
        stream += unit
      }
      #expect(units(stream) == expected)
    }
  }

  /// Long runs without a zero byte, which are passed over in words, and start codes at every place within a word.
  @Test func rangesSayWhereUnitsLie() {
    let random = RandomSource(seed: 2)
    for gap in 0..<40 {
      var stream = (0..<gap).map { _ in UInt8(random.next() & 0xFE) | 1 }
      var expected: [Range<Int>] = []
      for count in [1, 7, 8, 9, 16, 1 + Int(random.next() % 60), 2] {
        stream += [0, 0, 1]
        expected.append(stream.count..<stream.count + count)
        stream += (0..<count).map { _ in UInt8(random.next() & 0xFE) | 1 }
      }
      var found = AnnexBUnits(stream.rawSpan)
      var ranges: [Range<Int>] = []
      while let range = found.next() { ranges.append(range) }
      #expect(ranges == expected)
      #expect(units(stream) == expected.map { Array(stream[$0]) })
    }
  }
}

@Suite struct RBSPReaderTests {
  /// Runs `body` on a reader of `bytes`.
  private func read<Result>(
    _ bytes: [UInt8], _ body: (inout RBSPReader) throws(NALError) -> Result
  ) throws -> Result {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: bytes)
    var reader = RBSPReader(memory.bytes)
    return try body(&reader)
  }

  /// The codes of H.264 tables 9-2 and 9-3: 1, 010, 011, 00100, 00101, 00110, 00111, 0001000.
  @Test func expGolombCodesAreThoseOfTheStandard() throws {
    let bytes: [UInt8] = [0b1010_0110, 0b0100_0010, 0b1001_1000, 0b1110_0010, 0b0010_0000]
    let unsigned = try read(bytes) { reader throws(NALError) in
      var values: [UInt32] = []
      while reader.hasMoreData { values.append(try reader.readUnsigned()) }
      return values
    }
    #expect(unsigned == [0, 1, 2, 3, 4, 5, 6, 7])
    let signed = try read(bytes) { reader throws(NALError) in
      var values: [Int32] = []
      while reader.hasMoreData { values.append(try reader.readSigned()) }
      return values
    }
    #expect(signed == [0, 1, -1, 2, -2, 3, -3, 4])
  }

  @Test func theLongestCodesAreRead() throws {
    // 31 zeros, a one, 31 ones: 2^32 - 2.
    let value = try read([0, 0, 3, 0, 1, 255, 255, 255, 255]) { reader throws(NALError) in
      try reader.readUnsigned()
    }
    #expect(value == UInt32.max - 1)
    #expect(throws: NALError.outOfRange(element: "an Exp-Golomb code", value: .max)) {
      try read([0, 0, 3, 0, 0, 3, 0xC0, 1, 1, 1, 1, 1]) { reader throws(NALError) in
        try reader.readUnsigned()
      }
    }
  }

  @Test func emulationPreventionBytesAreSkipped() throws {
    let values = try read([0, 0, 3, 1, 0, 0, 3, 0, 0, 3, 3, 0x80]) { reader throws(NALError) in
      var values: [UInt32] = []
      while reader.hasMoreData { values.append(try reader.readBits(8)) }
      return values
    }
    #expect(values == [0, 0, 1, 0, 0, 0, 0, 3])
  }

  @Test func theStopBitEndsTheData() throws {
    for (bytes, bits) in [
      ([0x80], 0), ([0x40], 1), ([0xFF], 7), ([0xFF, 0x80], 8), ([0xFF, 0xC0, 0, 0, 3], 9), ([], 0),
      ([0, 0, 3], 0), ([0], 0), ([0, 0, 3, 0x80], 16),
    ] as [([UInt8], Int)] {
      let count = try read(bytes) { reader throws(NALError) in
        var count = 0
        while reader.hasMoreData {
          _ = try reader.readBits(1)
          count += 1
        }
        return count
      }
      #expect(count == bits, "\(bytes)")
      #expect(throws: NALError.truncated) {
        try read(bytes) { reader throws(NALError) in try reader.skipBits(bits + 1) }
      }
    }
  }

  /// Where a unit was cut, its last bit is as good as the others.
  @Test func allBitsOfALeadingPartAreData() throws {
    for (bytes, bits) in [
      ([0x80], 8), ([0x40], 8), ([0], 8), ([], 0), ([0xFF, 0xC0, 0, 0, 3], 32),
      ([0, 0, 3, 0x80], 24),
      ([1, 2, 3, 4, 5, 6, 0, 0, 3], 64), ([3], 8), ([0, 3], 16),
    ] as [([UInt8], Int)] {
      var reader = RBSPReader(leading: bytes.rawSpan)
      var count = 0
      while reader.hasMoreData {
        _ = try reader.readBits(1)
        count += 1
      }
      #expect(count == bits, "\(bytes)")
      var other = RBSPReader(leading: bytes.rawSpan)
      var error: NALError?
      do throws(NALError) { try other.skipBits(bits + 1) } catch let thrown { error = thrown }
      #expect(error == .truncated)
    }
    // The same elements of a whole unit and of the same one without its end.
    let code: [UInt8] = [0b0010_0100]
    var whole = RBSPReader(code.rawSpan)
    var leading = RBSPReader(leading: code.rawSpan)
    let values = try [whole.readUnsigned(), leading.readUnsigned(), leading.readBits(3)]
    #expect(values == [3, 3, 4])
    #expect(!whole.hasMoreData && !leading.hasMoreData)
  }

  @Test func wideReadsCrossBytes() throws {
    try read([0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0, 0x80]) { reader throws(NALError) in
      let none = try reader.readBits(0)
      let first = try reader.readBits(4)
      let wide = try reader.readBits(32)
      try reader.skipBits(20)
      let flag = try reader.readFlag()
      let last = try reader.readBits(7)
      let hasMoreData = reader.hasMoreData
      #expect(none == 0)
      #expect(first == 1)
      #expect(wide == 0x2345_6789)
      #expect(flag)
      #expect(last == 0x70)
      #expect(!hasMoreData)
    }
  }
}
