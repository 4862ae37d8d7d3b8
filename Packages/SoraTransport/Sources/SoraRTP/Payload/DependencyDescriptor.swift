import SoraWire

/// The dependency descriptor header extension (RTP Payload Format For AV1, appendix A): which frames a frame needs, and for
/// which layers it is. Of use to whoever forwards or reorders frames without looking into them.
public struct DependencyDescriptor: Equatable, Sendable {
  public static let uri =
    "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"

  /// What a frame is to a decode target (table A.1).
  public enum Indication: UInt8, Sendable {
    case notPresent = 0
    case discardable = 1
    case `switch` = 2
    case required = 3
  }

  /// What frames of one kind have in common, or what one frame says of itself.
  public struct Template: Equatable, Sendable {
    public var spatialLayer = 0
    public var temporalLayer = 0
    /// One for each decode target.
    public var indications: [Indication] = []
    /// How many frames back each frame lies that this one refers to, at least 1.
    public var frameDifferences: [Int] = []
    /// For each chain, how many frames back its last frame lies; 0 where none is needed.
    public var chainDifferences: [Int] = []

    public init(
      spatialLayer: Int = 0, temporalLayer: Int = 0, indications: [Indication] = [],
      frameDifferences: [Int] = [], chainDifferences: [Int] = []
    ) {
      self.spatialLayer = spatialLayer
      self.temporalLayer = temporalLayer
      self.indications = indications
      self.frameDifferences = frameDifferences
      self.chainDifferences = chainDifferences
    }
  }

  /// The stream's structure, which comes with the first packet of a coded video sequence and holds until the next.
  public struct Structure: Equatable, Sendable {
    /// The template id of `templates[0]`, 0...63.
    public var templateIDOffset = 0
    /// 1...32.
    public var decodeTargetCount = 1
    /// The chain that protects each decode target; empty where there are no chains.
    public var protectingChains: [Int] = []
    public var chainCount = 0
    /// 1...64, in the order of spatial and then temporal layers.
    public var templates: [Template] = []
    /// Width and height of each spatial layer; empty where they aren't told.
    public var resolutions: [Resolution] = []

    public init() {}
  }

  /// Pixels, 1...65,536.
  public struct Resolution: Equatable, Sendable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  public var isFrameStart = false
  public var isFrameEnd = false
  /// 0...63.
  public var templateID = 0
  public var frameNumber: UInt16 = 0
  /// The structure where this packet brings one.
  public var structure: Structure?
  /// The decode targets that are still sent, lowest bit first, where the packet tells.
  public var activeDecodeTargets: UInt32?
  /// The frame, with what its template says and the frame says otherwise.
  public var frame = Template()

  public init() {}

  /// Longest extension that is read or written: what a two-byte header extension holds.
  static let maximumCount = 255
}

// MARK: Reading

extension DependencyDescriptor {
  /// Reads an extension. `structure` is the one that came last; without any, only packets that bring one can be read.
  public init(parsing bytes: RawSpan, structure known: Structure?) throws(RTPError) {
    guard bytes.byteCount >= 3 else { throw .truncated(needed: 3, available: bytes.byteCount) }
    guard bytes.byteCount <= Self.maximumCount else { throw Self.malformed }
    var bits = BitReader(bytes)
    isFrameStart = bits.read(1) == 1
    isFrameEnd = bits.read(1) == 1
    templateID = Int(bits.read(6))
    frameNumber = UInt16(truncatingIfNeeded: bits.read(16))
    var hasIndications = false
    var hasDifferences = false
    var hasChains = false
    if bytes.byteCount > 3 {
      let hasStructure = bits.read(1) == 1
      let hasTargets = bits.read(1) == 1
      hasIndications = bits.read(1) == 1
      hasDifferences = bits.read(1) == 1
      hasChains = bits.read(1) == 1
      if hasStructure {
        let read = try Structure(&bits)
        structure = read
        activeDecodeTargets = UInt32(truncatingIfNeeded: (UInt64(1) << read.decodeTargetCount) - 1)
      }
      if hasTargets {
        guard let current = structure ?? known else { throw Self.malformed }
        activeDecodeTargets = bits.read(current.decodeTargetCount)
      }
    }
    guard let current = structure ?? known else { throw Self.malformed }
    let index = (templateID + 64 - current.templateIDOffset) % 64
    guard index < current.templates.count else { throw Self.malformed }
    frame = current.templates[index]
    if hasIndications {
      for target in 0..<current.decodeTargetCount { frame.indications[target] = bits.indication() }
    }
    if hasDifferences {
      frame.frameDifferences.removeAll()
      while true {
        let size = Int(bits.read(2))
        if size == 0 || bits.isExhausted { break }
        frame.frameDifferences.append(Int(bits.read(4 * size)) + 1)
      }
    }
    if hasChains {
      for chain in 0..<current.chainCount { frame.chainDifferences[chain] = Int(bits.read(8)) }
    }
    guard !bits.isExhausted else { throw Self.malformed }
  }

  private static var malformed: RTPError { .malformedPayload(codec: "dependency descriptor") }
}

extension DependencyDescriptor.Structure {
  fileprivate init(_ bits: inout BitReader) throws(RTPError) {
    let malformed = RTPError.malformedPayload(codec: "dependency descriptor")
    templateIDOffset = Int(bits.read(6))
    decodeTargetCount = Int(bits.read(5)) + 1
    var spatial = 0
    var temporal = 0
    var next: UInt32 = 0
    repeat {
      guard templates.count < 64, spatial < 8, temporal < 8, !bits.isExhausted else {
        throw malformed
      }
      templates.append(.init(spatialLayer: spatial, temporalLayer: temporal))
      next = bits.read(2)
      if next == 1 { temporal += 1 }
      if next == 2 {
        temporal = 0
        spatial += 1
      }
    } while next != 3
    for index in templates.indices {
      for _ in 0..<decodeTargetCount { templates[index].indications.append(bits.indication()) }
    }
    for index in templates.indices {
      while bits.read(1) == 1, !bits.isExhausted {
        templates[index].frameDifferences.append(Int(bits.read(4)) + 1)
      }
    }
    chainCount = bits.nonSymmetric(decodeTargetCount + 1)
    if chainCount > 0 {
      for _ in 0..<decodeTargetCount {
        protectingChains.append(bits.nonSymmetric(chainCount))
      }
      for index in templates.indices {
        for _ in 0..<chainCount { templates[index].chainDifferences.append(Int(bits.read(4))) }
      }
    }
    if bits.read(1) == 1 {
      for _ in 0...spatial {
        let width = Int(bits.read(16)) + 1
        resolutions.append(.init(width: width, height: Int(bits.read(16)) + 1))
      }
    }
    guard !bits.isExhausted else { throw malformed }
  }
}

extension BitReader {
  @_lifetime(self: copy self)
  fileprivate mutating func indication() -> DependencyDescriptor.Indication {
    DependencyDescriptor.Indication(rawValue: UInt8(read(2))) ?? .notPresent
  }

  /// ns(n): a value below `n` in as few bits as it takes (§A.8.2).
  @_lifetime(self: copy self)
  fileprivate mutating func nonSymmetric(_ n: Int) -> Int {
    let width = Int.bitWidth - n.leadingZeroBitCount
    let short = (1 << width) - n
    let value = Int(read(width - 1))
    return value < short ? value : (value << 1) - short + Int(read(1))
  }
}

// MARK: Writing

extension DependencyDescriptor {
  /// Writes the extension and returns its length. `structure` is the one in force, where the packet brings none itself.
  public func write(
    into buffer: UnsafeMutableRawBufferPointer, structure known: Structure?
  ) throws(RTPError) -> Int {
    guard let current = structure ?? known else { throw Self.malformed }
    let index = (templateID + 64 - current.templateIDOffset) % 64
    guard current.isValid, (0..<64).contains(templateID), index < current.templates.count,
      frame.indications.count == current.decodeTargetCount,
      frame.chainDifferences.count == current.chainCount,
      frame.frameDifferences.allSatisfy({ (1...4096).contains($0) }),
      frame.chainDifferences.allSatisfy({ (0...255).contains($0) })
    else { throw Self.malformed }
    let template = current.templates[index]
    let hasIndications = frame.indications != template.indications
    let hasDifferences = frame.frameDifferences != template.frameDifferences
    let hasChains = frame.chainDifferences != template.chainDifferences
    // A structure alone means that all its targets are sent.
    let all = UInt32(truncatingIfNeeded: (UInt64(1) << current.decodeTargetCount) - 1)
    let targets = structure != nil && activeDecodeTargets == all ? nil : activeDecodeTargets

    var bits = unsafe BitWriter(buffer)
    bits.put(isFrameStart ? 1 : 0, 1)
    bits.put(isFrameEnd ? 1 : 0, 1)
    bits.put(templateID, 6)
    bits.put(Int(frameNumber), 16)
    if structure != nil || targets != nil || hasIndications || hasDifferences || hasChains {
      bits.put(structure != nil ? 1 : 0, 1)
      bits.put(targets != nil ? 1 : 0, 1)
      bits.put(hasIndications ? 1 : 0, 1)
      bits.put(hasDifferences ? 1 : 0, 1)
      bits.put(hasChains ? 1 : 0, 1)
      if let structure { structure.write(to: &bits) }
      if let targets { bits.put(Int(targets), current.decodeTargetCount) }
      if hasIndications { for value in frame.indications { bits.put(Int(value.rawValue), 2) } }
      if hasDifferences {
        for difference in frame.frameDifferences {
          let size = difference <= 16 ? 1 : difference <= 256 ? 2 : 3
          bits.put(size, 2)
          bits.put(difference - 1, 4 * size)
        }
        bits.put(0, 2)
      }
      if hasChains { for difference in frame.chainDifferences { bits.put(difference, 8) } }
    }
    guard bits.count <= min(buffer.count, Self.maximumCount) else {
      throw .noRoom(needed: bits.count, available: min(buffer.count, Self.maximumCount))
    }
    return bits.count
  }

  @safe fileprivate struct BitWriter {
    let buffer: UnsafeMutableRawBufferPointer
    private var position = 0

    init(_ buffer: UnsafeMutableRawBufferPointer) { unsafe self.buffer = unsafe buffer }

    /// Bytes begun; may exceed the buffer, into which nothing more is written then.
    var count: Int { (position + 7) / 8 }

    mutating func put(_ value: Int, _ width: Int) {
      for bit in stride(from: width - 1, through: 0, by: -1) {
        let byte = position >> 3
        if unsafe byte < buffer.count {
          if position & 7 == 0 { unsafe buffer[byte] = 0 }
          if value >> bit & 1 == 1 { unsafe buffer[byte] |= 0x80 >> UInt8(position & 7) }
        }
        position += 1
      }
    }

    mutating func nonSymmetric(_ n: Int, _ value: Int) {
      guard n > 1 else { return }
      let width = Int.bitWidth - n.leadingZeroBitCount
      let short = (1 << width) - n
      if value < short { put(value, width - 1) } else { put(value + short, width) }
    }
  }
}

extension DependencyDescriptor.Structure {
  /// Whether every count and value fits its field.
  fileprivate var isValid: Bool {
    guard (0..<64).contains(templateIDOffset), (1...32).contains(decodeTargetCount),
      (1...64).contains(templates.count), (0...decodeTargetCount).contains(chainCount),
      protectingChains.count == (chainCount > 0 ? decodeTargetCount : 0),
      protectingChains.allSatisfy({ (0..<chainCount).contains($0) }),
      templates[0].spatialLayer == 0, templates[0].temporalLayer == 0
    else { return false }
    for (index, template) in templates.enumerated() {
      guard template.indications.count == decodeTargetCount,
        template.chainDifferences.count == chainCount,
        template.frameDifferences.allSatisfy({ (1...16).contains($0) }),
        template.chainDifferences.allSatisfy({ (0...15).contains($0) }),
        index == 0 || step(to: index) != nil
      else { return false }
    }
    let layers = (templates.last?.spatialLayer ?? 0) + 1
    return resolutions.isEmpty
      || resolutions.count == layers
        && resolutions.allSatisfy {
          (1...65_536).contains($0.width) && (1...65_536).contains($0.height)
        }
  }

  /// next_layer_idc from the template before `index` to it (table A.2); nil where there is no such step.
  private func step(to index: Int) -> Int? {
    let last = templates[index - 1]
    let next = templates[index]
    switch (next.spatialLayer - last.spatialLayer, next.temporalLayer) {
    case (0, last.temporalLayer): return 0
    case (0, last.temporalLayer + 1): return 1
    case (1, 0): return 2
    default: return nil
    }
  }

  fileprivate func write(to bits: inout DependencyDescriptor.BitWriter) {
    bits.put(templateIDOffset, 6)
    bits.put(decodeTargetCount - 1, 5)
    for index in templates.indices.dropFirst() { bits.put(step(to: index) ?? 0, 2) }
    bits.put(3, 2)
    for template in templates {
      for value in template.indications { bits.put(Int(value.rawValue), 2) }
    }
    for template in templates {
      for difference in template.frameDifferences {
        bits.put(1, 1)
        bits.put(difference - 1, 4)
      }
      bits.put(0, 1)
    }
    bits.nonSymmetric(decodeTargetCount + 1, chainCount)
    if chainCount > 0 {
      for chain in protectingChains { bits.nonSymmetric(chainCount, chain) }
      for template in templates {
        for difference in template.chainDifferences { bits.put(difference, 4) }
      }
    }
    bits.put(resolutions.isEmpty ? 0 : 1, 1)
    for resolution in resolutions {
      bits.put(resolution.width - 1, 16)
      bits.put(resolution.height - 1, 16)
    }
  }
}
