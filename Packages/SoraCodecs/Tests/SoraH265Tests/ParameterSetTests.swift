import CodecTestSupport
import Foundation
import SoraCodecs
import SoraMedia
import SoraNAL
import SoraWire
import SoraX265
import Testing

@Suite struct ParameterSetTests {
  /// Lends bytes to a reader.
  private func read<R>(_ bytes: [UInt8], _ body: (RawSpan) throws -> R) rethrows -> R {
    // Exactly these bytes: an array's storage is rounded up.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: bytes)
    return try body(memory.bytes)
  }

  private func bytes(_ text: String) -> [UInt8] {
    let digits = Array(text)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
  }

  // What `x265 --preset medium --bframes 0` (3.5) writes for 1280x720 at 30 frames a second.
  private var videoSet: [UInt8] { bytes("40010c01ffff01600000030090000003000003005d928090") }
  private var sequenceSet: [UInt8] {
    bytes("42010101600000030090000003000003005da00280802d16592a4932bc04040000030004000003007820")
  }

  @Test func readsWhatX265Writes() throws {
    let video = try read(videoSet) { try H265VideoParameterSet($0) }
    #expect(video.id == 0 && video.maximumSubLayers == 1)
    #expect(video.profileTierLevel.levelID == 93 && video.profileTierLevel.profile == 1)
    let sequence = try read(sequenceSet) { try H265SequenceParameterSet($0) }
    #expect(sequence.width == 1280 && sequence.height == 720)
    #expect(sequence.codedWidth == 1280 && sequence.codedHeight == 720)
    #expect(sequence.codingTreeBlockSize == 64 && sequence.isEightBit420)
    #expect(sequence.profileTierLevel == video.profileTierLevel)
    #expect(sequence.profileTierLevel.isMainCompatible)
    #expect(sequence.maximumReorderedPictures == 0 && sequence.maximumDecodedPictures == 4)
    let picture = try read(bytes("4401c172b46240")) { try H265PictureParameterSet($0) }
    #expect(picture.id == 0 && picture.sequenceID == 0 && !picture.hasOutputFlag)
  }

  @Test func everyShorterSetIsTruncated() {
    // The last 16 bytes are the VUI, which isn't read.
    for count in 0..<sequenceSet.count - 17 {
      #expect(throws: NALError.self) {
        try read(Array(sequenceSet.prefix(count))) { try H265SequenceParameterSet($0) }
      }
    }
    for count in 0..<videoSet.count - 4 {
      #expect(throws: NALError.self) {
        try read(Array(videoSet.prefix(count))) { try H265VideoParameterSet($0) }
      }
    }
  }

  /// A set of a main profile stream, with values of the test's own.
  private func made(
    width: UInt32 = 64, height: UInt32 = 64, window: [UInt32]? = nil, chroma: UInt32 = 1,
    bits: UInt32 = 0, smallest: UInt32 = 0, difference: UInt32 = 2, sets: UInt32 = 0
  ) -> [UInt8] {
    var writer = BitWriter()
    writer.bits(0x42, 8)
    writer.bits(0x01, 8)
    writer.bits(0, 8)
    // Profile, tier and level.
    writer.bits(1, 8)
    writer.bits(0x6000_0000, 32)
    writer.bits(0x9000, 16)
    writer.bits(0, 32)
    writer.bits(93, 8)
    for value in [0, chroma] { writer.unsigned(value) }
    if chroma == 3 { writer.bits(0, 1) }
    writer.unsigned(width)
    writer.unsigned(height)
    writer.bits(window == nil ? 0 : 1, 1)
    for value in window ?? [] { writer.unsigned(value) }
    for value in [bits, bits, 4] { writer.unsigned(value) }
    writer.bits(1, 1)
    for value in [1, 0, 0, smallest, difference, 0, 2, 0, 0] { writer.unsigned(value) }
    // No scaling lists, partitions, offsets nor plain samples.
    writer.bits(0, 4)
    writer.unsigned(sets)
    for _ in 0..<min(sets, 64) { writer.bits(0, 2) }
    writer.bits(0, 8)
    return writer.finish()
  }

  @Test func theWindowIsCutOffInUnitsOfChroma() throws {
    let four = try read(made(width: 1920, height: 1088, window: [1, 2, 0, 4])) {
      try H265SequenceParameterSet($0)
    }
    #expect(four.width == 1914 && four.height == 1080 && four.codedHeight == 1088)
    let full = try read(made(window: [1, 2, 3, 4], chroma: 3)) { try H265SequenceParameterSet($0) }
    #expect(full.width == 61 && full.height == 57 && !full.isEightBit420)
  }

  @Test func valuesOutsideOfTheStandardAreRefusedByName() {
    func refused(_ bytes: [UInt8]) -> String {
      do {
        _ = try read(bytes) { try H265SequenceParameterSet($0) }
        return "taken"
      } catch {
        guard case .outOfRange(let element, _) = error as? NALError else { return "\(error)" }
        return element
      }
    }
    #expect(refused(made()) == "taken")
    #expect(refused(made(width: 0)) == "pic_width_in_luma_samples")
    #expect(refused(made(width: 65)) == "pic_width_in_luma_samples")
    #expect(refused(made(height: 70_000)) == "pic_height_in_luma_samples")
    #expect(refused(made(window: [16, 16, 0, 0])) == "conf_win_right_offset")
    #expect(refused(made(window: [0, 0, 16_000, 16_000])) == "conf_win_bottom_offset")
    #expect(refused(made(chroma: 4)) == "chroma_format_idc")
    #expect(refused(made(bits: 9)) == "bit_depth_luma_minus8")
    #expect(refused(made(difference: 0)) == "log2_diff_max_min_luma_coding_block_size")
    #expect(refused(made(smallest: 3, difference: 1)) == "log2_diff_max_min_luma_coding_block_size")
    #expect(refused(made(sets: 65)) == "num_short_term_ref_pic_sets")
  }

  /// Slices of a picture whose first one was lost, and a key frame behind them, in one access unit.
  @Test func aKeyFrameBehindAnotherPicturesSlicesIsNone() throws {
    let encoder = try x265.encoder(64, 64)
    let units = try (0..<2).flatMap { index in
      let encoded = try encoder.encode(
        Pictures.frame(64, 64, index: index), forceKeyFrame: false, rtpTimestamp: 0)
      let payload = try #require(encoded).payload
      var units: [[UInt8]] = []
      var found = AnnexBUnits(payload.span)
      while let unit = found.nextUnit() { units.append([UInt8](copying: unit)) }
      return units
    }
    try #require(units.count == 5)
    let (sets, key) = (units[0..<3], units[3])
    var rest = units[4]
    // first_slice_segment_in_pic_flag, the first bit behind the unit's header.
    rest[2] &= 0x7f
    func inspect(_ units: [[UInt8]]) throws -> (unit: H265AccessUnit, isKeyFrame: Bool) {
      var inspector = H265StreamInspector()
      return try read((sets + units).flatMap { [0, 0, 0, 1] + $0 }) {
        (try inspector.inspect($0), H265StreamInspector.isKeyFrame($0))
      }
    }
    let sound = try inspect([key])
    #expect(sound.unit.isKeyFrame && sound.isKeyFrame && !sound.unit.isDamaged)
    let mixed = try inspect([rest, key])
    #expect(!mixed.unit.isKeyFrame && !mixed.isKeyFrame && mixed.unit.isDamaged)
    #expect(mixed.unit.pictureCount == 1 && mixed.unit.sliceCount == 2)
  }

  @Test func changedStreamsNeverTrap() throws {
    let random = RandomSource(seed: 0x265)
    let encoder = try x265.encoder(64, 64)
    let frames = try (0..<4).compactMap { index in
      try encoder.encode(
        Pictures.frame(64, 64, index: index), forceKeyFrame: false, rtpTimestamp: 0
      ).map { Array($0.payload.bytes.prefix(200)) }
    }
    var inspector = H265StreamInspector()
    var errors = 0
    for _ in 0..<20_000 {
      var changed = frames[Int(random.next() % 4)]
      for _ in 0..<(random.next() % 6) {
        changed[Int(random.next() % UInt64(min(changed.count, 90)))] = UInt8(
          truncatingIfNeeded: random.next())
      }
      if random.next() & 7 == 0 {
        changed.removeLast(Int(random.next() % UInt64(changed.count)))
      }
      do {
        let unit = try read(changed) { try inspector.inspect($0) }
        #expect(unit.width <= unit.codedWidth && unit.height <= unit.codedHeight)
        #expect(unit.pictureCount == 0 || unit.width > 0)
      } catch {
        errors += 1
        if random.next() & 1 == 0 { inspector.restart() }
      }
    }
    #expect(errors > 100)
    inspector.restart(forgettingParameterSets: true)
    for (index, bytes) in frames.enumerated() {
      let unit = try read(bytes) { try inspector.inspect($0) }
      #expect(unit.pictureCount == 1 && !unit.isDamaged && unit.isKeyFrame == (index == 0))
    }
  }
}

/// Writes what `RBSPReader` reads.
private struct BitWriter {
  private var bytes: [UInt8] = []
  private var current: UInt8 = 0
  private var count = 0

  mutating func bits(_ value: UInt32, _ width: Int) {
    for index in (0..<width).reversed() {
      current = current << 1 | UInt8(value >> UInt32(index) & 1)
      count += 1
      if count % 8 == 0 {
        // Emulation prevention, as H.265 §7.4.2 demands.
        if current <= 3, bytes.suffix(2) == [0, 0] { bytes.append(3) }
        bytes.append(current)
        current = 0
      }
    }
  }

  mutating func unsigned(_ value: UInt32) {
    let width = UInt64(value + 1).bitWidth - UInt64(value + 1).leadingZeroBitCount
    bits(0, width - 1)
    bits(value + 1, width)
  }

  mutating func finish() -> [UInt8] {
    bits(1, 1)
    while count % 8 != 0 { bits(0, 1) }
    return bytes
  }
}
