import SoraMedia
import SoraRTP
import Testing

@Suite struct DependencyDescriptorTests {
  /// Two temporal layers, each a decode target, one chain: the specification's L1T2.
  private var structure: DependencyDescriptor.Structure {
    var structure = DependencyDescriptor.Structure()
    structure.decodeTargetCount = 2
    structure.chainCount = 1
    structure.protectingChains = [0, 0]
    structure.templates = [
      .init(indications: [.switch, .switch], chainDifferences: [0]),
      .init(indications: [.switch, .switch], frameDifferences: [2], chainDifferences: [2]),
      .init(
        temporalLayer: 1, indications: [.notPresent, .discardable], frameDifferences: [1],
        chainDifferences: [1]),
    ]
    structure.resolutions = [.init(width: 640, height: 360)]
    return structure
  }

  private func keyFrame(_ structure: DependencyDescriptor.Structure) -> DependencyDescriptor {
    var descriptor = DependencyDescriptor()
    descriptor.isFrameStart = true
    descriptor.frameNumber = 0x0102
    descriptor.structure = structure
    descriptor.activeDecodeTargets = 3
    descriptor.frame = structure.templates[0]
    return descriptor
  }

  /// By hand, field by field, from §A.8.2.
  private let keyFrameBits =
    "1" + "0" + "000000" + "0000000100000010"  // start, end, template 0, frame number
    + "10000"  // a structure, nothing else
    + "000000" + "00001"  // offset 0, two decode targets
    + "00" + "01" + "11"  // templates: same layers, next temporal layer, no more
    + "1010" + "1010" + "0001"  // S S, S S, - D
    + "0" + "1" + "0001" + "0" + "1" + "0000" + "0"  // frame differences: none, 2, 1
    + "10"  // one chain: ns(3) of 1
    // ns(1) of 0 twice takes no bits
    + "0000" + "0010" + "0001"  // chain differences
    + "1" + "0000001001111111" + "0000000101100111"  // 640x360

  private func bytes(_ bits: String) -> [UInt8] {
    var result: [UInt8] = []
    for (index, bit) in bits.utf8.enumerated() {
      if index % 8 == 0 { result.append(0) }
      if bit == UInt8(ascii: "1") { result[index / 8] |= 0x80 >> UInt8(index % 8) }
    }
    return result
  }

  @Test func aStructureIsWrittenAndReadBitByBit() throws {
    let descriptor = keyFrame(structure)
    let made = try written { try descriptor.write(into: $0, structure: nil) }
    #expect(made == bytes(keyFrameBits))
    let read = try withBytes(made) { try DependencyDescriptor(parsing: $0, structure: nil) }
    #expect(read == descriptor)
  }

  @Test func threeBytesDoForAFrameLikeItsTemplate() throws {
    var descriptor = DependencyDescriptor()
    descriptor.isFrameStart = true
    descriptor.isFrameEnd = true
    descriptor.templateID = 2
    descriptor.frameNumber = 0xABCD
    descriptor.frame = structure.templates[2]
    let made = try written { try descriptor.write(into: $0, structure: structure) }
    #expect(made == [0xC2, 0xAB, 0xCD])
    let read = try withBytes(made) { try DependencyDescriptor(parsing: $0, structure: structure) }
    #expect(read == descriptor)
    #expect(throws: RTPError.self) {
      _ = try withBytes(made) { try DependencyDescriptor(parsing: $0, structure: nil) }
    }
  }

  @Test func whatDiffersFromTheTemplateIsWritten() throws {
    var descriptor = DependencyDescriptor()
    descriptor.templateID = 1
    descriptor.frame = structure.templates[1]
    descriptor.frame.indications = [.required, .switch]
    descriptor.frame.frameDifferences = [1, 17, 4_096]
    descriptor.frame.chainDifferences = [200]
    descriptor.activeDecodeTargets = 1
    let made = try written { try descriptor.write(into: $0, structure: structure) }
    let read = try withBytes(made) { try DependencyDescriptor(parsing: $0, structure: structure) }
    #expect(read == descriptor)
    for length in 0..<made.count - 1 {
      #expect(throws: RTPError.self) {
        _ = try withBytes(Array(made.prefix(length))) {
          let read = try DependencyDescriptor(parsing: $0, structure: structure)
          // Three bytes alone are a valid descriptor of another meaning.
          if length == 3 { throw RTPError.malformedPayload(codec: "\(read.frameNumber)") }
        }
      }
    }
  }

  @Test func impossibleStructuresAreRefused() {
    var broken = structure
    broken.templates.swapAt(0, 2)
    #expect(throws: RTPError.self) {
      _ = try written { try keyFrame(broken).write(into: $0, structure: nil) }
    }
    #expect(throws: RTPError.self) {
      _ = try written(capacity: 8) { try keyFrame(structure).write(into: $0, structure: nil) }
    }
  }

  @Test func mutationsNeverTrap() throws {
    let random = RandomSource(seed: 0xDD)
    let sample = bytes(keyFrameBits)
    var known: DependencyDescriptor.Structure? = structure
    var refused = 0
    for round in 0..<20_000 {
      withBytes(mutated(round % 3 == 0 ? [0xC2, 0xAB, 0xCD, 0x78, 1, 2] : sample, random)) {
        do {
          let read = try DependencyDescriptor(parsing: $0, structure: known)
          // What can be read can be written, as long as it is a structure that templates can express.
          _ = try? written { try read.write(into: $0, structure: known) }
          if round % 7 == 0 { known = read.structure ?? known }
        } catch { refused += 1 }
      }
    }
    #expect(refused > 0)
  }
}
