import SoraMedia
import SoraNAL
import SoraWire
import Testing

/// Writes syntax elements, with emulation prevention.
private struct BitWriter {
  private var bits: [Bool] = []

  mutating func u(_ count: Int, _ value: Int) {
    for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
  }

  mutating func ue(_ value: Int) {
    let length = Int.bitWidth - (value + 1).leadingZeroBitCount
    u(length - 1, 0)
    u(length, value + 1)
  }

  mutating func se(_ value: Int) { ue(value > 0 ? 2 * value - 1 : -2 * value) }

  /// The unit: header, what was written, stop bit.
  func unit(_ header: UInt8) -> [UInt8] {
    var all = bits + [true]
    while all.count % 8 != 0 { all.append(false) }
    var bytes = [header]
    var zeros = 0
    for start in stride(from: 0, to: all.count, by: 8) {
      let byte = all[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
      if zeros >= 2, byte <= 3 {
        bytes.append(3)
        zeros = 0
      }
      bytes.append(byte)
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return bytes
  }
}

@Suite struct ParameterSetTests {
  private func parse(_ unit: [UInt8]) throws -> H264SequenceParameterSet {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: unit.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: unit)
    return try H264SequenceParameterSet(memory.bytes)
  }

  /// A baseline set of 720p, or what `change` makes of it.
  private func baseline(width: Int = 79, height: Int = 44, id: Int = 0) -> BitWriter {
    var writer = BitWriter()
    writer.u(8, 66)
    writer.u(8, 0xE0)
    writer.u(8, 31)
    writer.ue(id)
    writer.ue(11)
    writer.ue(2)
    writer.ue(3)
    writer.u(1, 0)
    writer.ue(width)
    writer.ue(height)
    writer.u(1, 1)
    writer.u(1, 1)
    return writer
  }

  @Test func aPlainSetIsRead() throws {
    var writer = baseline(id: 5)
    writer.u(2, 0)
    let set = try parse(writer.unit(0x67))
    #expect(set.id == 5 && set.width == 1_280 && set.height == 720)
    #expect(set.profileLevelID?.description == "42e01f")
    #expect(set.chromaFormat == 1 && set.lumaBits == 8 && set.chromaBits == 8)
    #expect(set.frameNumberBits == 15 && set.pictureOrderType == 2)
    #expect(set.maximumReferenceFrames == 3 && !set.allowsFrameNumberGaps && set.isProgressive)
    #expect(set.reordering == nil && set.framesPerSecond == nil)
  }

  @Test func croppingCountsPairsOfSamples() throws {
    // 120 by 68 macroblocks, four rows of samples cut off at the bottom and one column of pairs at each side.
    var writer = baseline(width: 119, height: 67)
    writer.u(1, 1)
    for value in [1, 1, 0, 4] { writer.ue(value) }
    writer.u(1, 0)
    let set = try parse(writer.unit(0x67))
    #expect(set.codedWidth == 1_920 && set.codedHeight == 1_088)
    #expect(set.width == 1_916 && set.height == 1_080)
  }

  @Test func croppingThatLeavesNothingIsRefused() {
    for (left, right) in [(8, 0), (0, 8), (4, 4), (7, 1), (1 << 30, 1 << 30)] {
      var writer = baseline(width: 0, height: 0)
      writer.u(1, 1)
      for value in [left, right, 0, 0] { writer.ue(value) }
      writer.u(1, 0)
      #expect(throws: NALError.self) { try parse(writer.unit(0x67)) }
    }
  }

  @Test func highProfilesSayTheirFormat() throws {
    var writer = BitWriter()
    for value in [100, 0, 40] { writer.u(8, value) }
    writer.ue(0)
    // 4:4:4 with separate planes, 10 and 9 bits.
    writer.ue(3)
    writer.u(1, 1)
    writer.ue(2)
    writer.ue(1)
    writer.u(1, 0)
    // Twelve scaling lists: the first ends at once, the second has all its values, the third and the last are there.
    writer.u(1, 1)
    for index in 0..<12 {
      switch index {
      case 0, 11:
        writer.u(1, 1)
        writer.se(-8)
      case 1, 7:
        writer.u(1, 1)
        for _ in 0..<(index < 6 ? 16 : 64) { writer.se(1) }
      default: writer.u(1, 0)
      }
    }
    writer.ue(0)
    // Picture order by a cycle of two frames.
    writer.ue(1)
    writer.u(1, 0)
    writer.se(-3)
    writer.se(3)
    writer.ue(2)
    writer.se(100)
    writer.se(-100)
    writer.ue(16)
    writer.u(1, 1)
    writer.ue(9)
    writer.ue(4)
    // Fields may occur: units are pairs of rows.
    writer.u(1, 0)
    writer.u(1, 1)
    writer.u(1, 0)
    writer.u(1, 1)
    for value in [0, 0, 1, 2] { writer.ue(value) }
    writer.u(1, 0)
    let set = try parse(writer.unit(0x27))
    #expect(set.chromaFormat == 3 && set.lumaBits == 10 && set.chromaBits == 9)
    #expect(set.pictureOrderType == 1 && set.maximumReferenceFrames == 16)
    #expect(set.allowsFrameNumberGaps && !set.isProgressive)
    #expect(set.width == 160 && set.codedHeight == 160 && set.height == 154)
  }

  @Test func usabilityInformationIsReadToItsEnd() throws {
    for hasDecoderModel in [false, true] {
      var writer = baseline()
      writer.u(1, 0)
      writer.u(1, 1)
      // Extended aspect ratio.
      writer.u(1, 1)
      writer.u(8, 255)
      writer.u(32, 0x0004_0003)
      writer.u(2, 0b11)
      // Signal type with colours.
      writer.u(1, 1)
      writer.u(4, 0b1010)
      writer.u(1, 1)
      writer.u(24, 0x010101)
      writer.u(1, 1)
      writer.ue(1)
      writer.ue(5)
      // 1,001 of 60,000: 29.97 frames a second.
      writer.u(1, 1)
      writer.u(32, 1_001)
      writer.u(32, 60_000)
      writer.u(1, 1)
      for _ in 0..<2 {
        writer.u(1, hasDecoderModel ? 1 : 0)
        guard hasDecoderModel else { continue }
        writer.ue(1)
        writer.u(8, 0x11)
        for _ in 0..<2 {
          writer.ue(70_000)
          writer.ue(1)
          writer.u(1, 1)
        }
        writer.u(20, 0x12345)
      }
      if hasDecoderModel { writer.u(1, 0) }
      writer.u(1, 1)
      writer.u(1, 1)
      writer.u(1, 1)
      for value in [0, 0, 11, 11, 2, 4] { writer.ue(value) }
      let set = try parse(writer.unit(0x67))
      #expect(set.reordering?.frames == 2 && set.reordering?.buffering == 4)
      #expect(abs((set.framesPerSecond ?? 0) - 29.97) < 0.01)
    }
  }

  @Test func elementsOutOfRangeAreNamed() {
    func error(_ write: (inout BitWriter) -> Void) -> String {
      var writer = BitWriter()
      for value in [66, 0xE0, 31] { writer.u(8, value) }
      write(&writer)
      do {
        _ = try parse(writer.unit(0x67))
        return "none"
      } catch {
        guard case .outOfRange(let element, _)? = error as? NALError else { return "\(error)" }
        return element
      }
    }
    #expect(error { $0.ue(32) } == "seq_parameter_set_id")
    #expect(error { for value in [0, 13] { $0.ue(value) } } == "log2_max_frame_num_minus4")
    #expect(error { for value in [0, 0, 3] { $0.ue(value) } } == "pic_order_cnt_type")
    #expect(error { for value in [0, 0, 2, 17] { $0.ue(value) } } == "max_num_ref_frames")
    #expect(
      error {
        for value in [0, 0, 2, 1] { $0.ue(value) }
        $0.u(1, 0)
        $0.ue(1 << 20)
      } == "pic_width_in_mbs_minus1")
  }

  @Test func pictureSetsAreRead() throws {
    var writer = BitWriter()
    writer.ue(200)
    writer.ue(31)
    writer.u(2, 0b10)
    writer.ue(2)
    writer.ue(6)
    // Three groups of slices, a map of ten units.
    writer.ue(9)
    for index in 0..<10 { writer.u(2, index % 3) }
    writer.ue(3)
    writer.ue(0)
    writer.u(3, 0b101)
    for value in [-3, 0, 2] { writer.se(value) }
    writer.u(3, 0)
    let plain = writer.unit(0x68)
    writer.u(1, 1)
    writer.u(1, 0)
    writer.se(2)
    for (unit, isLarge) in [(plain, false), (writer.unit(0x68), true)] {
      let set = try H264PictureParameterSet(unit.rawSpan)
      #expect(set.id == 200 && set.sequenceID == 31 && set.usesArithmeticCoding)
      #expect(set.sliceGroups == 3 && set.usesWeightedPrediction)
      #expect(set.usesLargeTransform == isLarge)
    }
  }

  /// Truncated, and with any bits: refused or read, never a trap; what is read is a picture.
  @Test func anyBytesAreTaken() throws {
    let random = RandomSource(seed: 3)
    var writer = baseline(width: 119, height: 67)
    writer.u(1, 1)
    for value in [0, 0, 0, 4] { writer.ue(value) }
    writer.u(1, 1)
    writer.u(5, 0)
    writer.u(4, 0b0001)
    writer.u(1, 1)
    for value in [0, 0, 11, 11, 0, 1] { writer.ue(value) }
    let unit = writer.unit(0x67)
    #expect(try parse(unit).reordering?.buffering == 1)
    for count in 0..<unit.count - 1 {
      #expect(throws: NALError.self) { try parse(Array(unit.prefix(count))) }
    }
    var taken = 0
    for _ in 0..<20_000 {
      var bytes = unit
      for _ in 0...(random.next() % 4) {
        bytes[1 + Int(random.next() % UInt64(bytes.count - 1))] = UInt8(
          truncatingIfNeeded: random.next())
      }
      _ = try? H264PictureParameterSet(bytes.rawSpan)
      _ = H264AccessUnit(bytes.rawSpan)
      if let set = try? H264SequenceParameterSet(bytes.rawSpan) {
        taken += 1
        #expect(set.width > 0 && set.height > 0)
      }
    }
    #expect(taken > 100)
  }
}

@Suite struct AccessUnitTests {
  private func inspect(_ bytes: [UInt8]) -> H264AccessUnit { H264AccessUnit(bytes.rawSpan) }

  @Test func slicesTellWhatAPictureIs() {
    // first_mb_in_slice 0, slice_type 7 (I): 1 0001000.
    let key = inspect([0, 0, 0, 1, 0x65, 0x88, 0x80, 0, 0, 1, 0x65, 0x42, 0x88])
    #expect(key.isKeyFrame && key.isReference && key.slices == 2 && key.units == 2)
    #expect(key.sliceType == .i && !key.hasParameterSets && key.longestUnit == 3)
    // slice_type 5 (P): 1 00110; nal_ref_idc 0.
    let p = inspect([0, 0, 1, 0x01, 0x9A, 0x80])
    #expect(!p.isKeyFrame && !p.isReference && p.sliceType == .p)
    // slice_type 6 (B): 1 00111.
    #expect(inspect([0, 0, 1, 0x41, 0x9E, 0x80]).sliceType == .b)
    #expect(inspect([0, 0, 1, 0x41]).sliceType == nil)
    // forbidden_zero_bit
    #expect(inspect([0, 0, 1, 0xE5, 0x88]).slices == 0)
    #expect(inspect([]) == inspect([1, 2, 3]))
  }

  @Test func brokenParameterSetsAreReported() {
    let unit = inspect([0, 0, 1, 0x67, 0x42, 0, 0, 1, 0x68, 0xCE])
    #expect(unit.sequenceParameterSetError == .truncated && unit.hasPictureParameterSet)
    #expect(!unit.hasParameterSets && unit.slices == 0)
  }
}
