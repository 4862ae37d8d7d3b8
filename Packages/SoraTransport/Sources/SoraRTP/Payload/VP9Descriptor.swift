import SoraWire

/// The VP9 payload descriptor (RFC 9628 §4.2). Plain memory: reading and writing allocate nothing.
public struct VP9Descriptor: Equatable, Sendable {
  /// 7 or 15 bits.
  public var pictureID: UInt16?
  /// Whether the picture id takes 15 bits.
  public var hasLongPictureID = true
  /// P: the layer frame refers to earlier pictures.
  public var isInterPicturePredicted = false
  /// L: the four fields below are there.
  public var hasLayerIndices = false
  /// TID, 0...7.
  public var temporalLayer: UInt8 = 0
  /// U: later frames of higher temporal layers don't refer to anything before this picture above its layer.
  public var isSwitchingPoint = false
  /// SID, 0...7.
  public var spatialLayer: UInt8 = 0
  /// D: the layer frame refers to the layer below of its picture.
  public var isInterLayerPredicted = false
  /// TL0PICIDX; only without flexible mode, where layer indices are there.
  public var baseLayerIndex: UInt8 = 0
  /// F: each frame names the pictures that it refers to.
  public var isFlexible = false
  /// P_DIFF: how many pictures back, 1...127; 0 where there is none. Only in flexible mode with P.
  public var references: (UInt8, UInt8, UInt8) = (0, 0, 0)
  /// B, E: the payload begins or ends a layer frame.
  public var isLayerFrameStart = false
  public var isLayerFrameEnd = false
  /// Z: no higher spatial layer refers to this one.
  public var isNotInterLayerReference = false
  /// V: the stream's structure, with key pictures.
  public var structure: Structure?

  /// The scalability structure.
  public struct Structure: Equatable, Sendable {
    /// N_S + 1, 1...8.
    public var spatialLayers = 1
    /// Y: sizes are there, of the layers 0..<`spatialLayers`.
    public var hasSizes = false
    public var sizes = LayerSizes()
    /// Temporal layers of the picture group to write, 1...3; 0 for none. Reading leaves it at 0.
    public var groupTemporalLayers = 0
    /// N_G: pictures of the group that was read.
    public var groupCount = 0

    public init() {}
  }

  /// Width and height of up to eight layers.
  public struct LayerSizes: Equatable, Sendable {
    private var words: SIMD16<UInt16> = .zero

    public init() {}

    public subscript(layer: Int) -> (width: UInt16, height: UInt16) {
      get { (words[2 * (layer & 7)], words[2 * (layer & 7) + 1]) }
      set {
        words[2 * (layer & 7)] = newValue.width
        words[2 * (layer & 7) + 1] = newValue.height
      }
    }
  }

  public init() {}

  public static func == (a: Self, b: Self) -> Bool {
    a.pictureID == b.pictureID && a.hasLongPictureID == b.hasLongPictureID
      && a.isInterPicturePredicted == b.isInterPicturePredicted
      && a.hasLayerIndices == b.hasLayerIndices && a.temporalLayer == b.temporalLayer
      && a.isSwitchingPoint == b.isSwitchingPoint && a.spatialLayer == b.spatialLayer
      && a.isInterLayerPredicted == b.isInterLayerPredicted
      && a.baseLayerIndex == b.baseLayerIndex && a.isFlexible == b.isFlexible
      && a.references == b.references && a.isLayerFrameStart == b.isLayerFrameStart
      && a.isLayerFrameEnd == b.isLayerFrameEnd
      && a.isNotInterLayerReference == b.isNotInterLayerReference && a.structure == b.structure
  }
}

// MARK: Reading

extension VP9Descriptor {
  /// Parses the start of a payload; `count` receives the descriptor's length.
  public init(parsing payload: RawSpan, count: inout Int) throws(RTPError) {
    var reader = Reader(payload)
    let first = try reader.byte()
    isInterPicturePredicted = first & 0x40 != 0
    hasLayerIndices = first & 0x20 != 0
    isFlexible = first & 0x10 != 0
    isLayerFrameStart = first & 0x08 != 0
    isLayerFrameEnd = first & 0x04 != 0
    isNotInterLayerReference = first & 0x01 != 0
    if first & 0x80 != 0 {
      let high = try reader.byte()
      hasLongPictureID = high & 0x80 != 0
      pictureID = UInt16(high & 0x7F)
      if hasLongPictureID { pictureID = UInt16(high & 0x7F) << 8 | UInt16(try reader.byte()) }
    } else if isFlexible {
      // References count pictures, so flexible mode can't be without picture ids.
      throw .malformedPayload(codec: "VP9")
    }
    if hasLayerIndices {
      let byte = try reader.byte()
      temporalLayer = byte >> 5
      isSwitchingPoint = byte & 0x10 != 0
      spatialLayer = byte >> 1 & 7
      isInterLayerPredicted = byte & 1 != 0
      if !isFlexible { baseLayerIndex = try reader.byte() }
    }
    if isFlexible, isInterPicturePredicted {
      var more = true
      var index = 0
      while more {
        guard index < 3 else { throw .malformedPayload(codec: "VP9") }
        let byte = try reader.byte()
        more = byte & 1 != 0
        let difference = byte >> 1
        switch index {
        case 0: references.0 = difference
        case 1: references.1 = difference
        default: references.2 = difference
        }
        index += 1
      }
    }
    if first & 0x02 != 0 { structure = try Structure(&reader) }
    count = reader.offset
  }

  fileprivate struct Reader: ~Escapable {
    let bytes: RawSpan
    var offset = 0

    @_lifetime(copy bytes)
    init(_ bytes: RawSpan) { self.bytes = bytes }

    @_lifetime(self: copy self)
    mutating func byte() throws(RTPError) -> UInt8 {
      guard offset < bytes.byteCount else {
        throw .truncated(needed: offset + 1, available: bytes.byteCount)
      }
      defer { offset += 1 }
      return bytes.u8(offset)
    }

    @_lifetime(self: copy self)
    mutating func word() throws(RTPError) -> UInt16 {
      UInt16(try byte()) << 8 | UInt16(try byte())
    }
  }
}

extension VP9Descriptor.Structure {
  fileprivate init(_ reader: inout VP9Descriptor.Reader) throws(RTPError) {
    let first = try reader.byte()
    spatialLayers = Int(first >> 5) + 1
    hasSizes = first & 0x10 != 0
    if hasSizes {
      for layer in 0..<spatialLayers {
        let width = try reader.word()
        sizes[layer] = (width, try reader.word())
      }
    }
    guard first & 0x08 != 0 else { return }
    groupCount = Int(try reader.byte())
    for _ in 0..<groupCount {
      let references = try reader.byte() >> 2 & 3
      for _ in 0..<references { _ = try reader.byte() }
    }
  }

  /// Picture `index` of the group: temporal layer, and how far back its reference lies (0 1 | 0 2 1 2).
  func groupPicture(_ index: Int) -> (temporalLayer: UInt8, reference: UInt8) {
    switch (groupTemporalLayers, index) {
    case (2, 0): (0, 2)
    case (2, _): (1, 1)
    case (3, 0): (0, 4)
    case (3, 2): (1, 2)
    case (3, _): (2, 1)
    default: (0, 1)
    }
  }

  var groupSize: Int { groupTemporalLayers == 0 ? 0 : 1 << (groupTemporalLayers - 1) }

  var byteCount: Int {
    1 + (hasSizes ? 4 * spatialLayers : 0) + (groupSize > 0 ? 1 + 2 * groupSize : 0)
  }
}

// MARK: Writing

extension VP9Descriptor {
  private var referenceCount: Int {
    guard isFlexible, isInterPicturePredicted else { return 0 }
    return references.1 == 0 ? 1 : references.2 == 0 ? 2 : 3
  }

  /// Bytes that `write` takes.
  public var byteCount: Int {
    1 + (pictureID != nil ? (hasLongPictureID ? 2 : 1) : 0)
      + (hasLayerIndices ? (isFlexible ? 1 : 2) : 0) + referenceCount
      + (structure?.byteCount ?? 0)
  }

  /// Writes the descriptor to the start of `buffer`, which must hold `byteCount` bytes.
  public func write(into buffer: UnsafeMutableRawBufferPointer) throws(RTPError) {
    let size = byteCount
    guard buffer.count >= size else { throw .noRoom(needed: size, available: buffer.count) }
    var first: UInt8 = pictureID != nil ? 0x80 : 0
    if isInterPicturePredicted { first |= 0x40 }
    if hasLayerIndices { first |= 0x20 }
    if isFlexible { first |= 0x10 }
    if isLayerFrameStart { first |= 0x08 }
    if isLayerFrameEnd { first |= 0x04 }
    if structure != nil { first |= 0x02 }
    if isNotInterLayerReference { first |= 0x01 }
    unsafe buffer[0] = first
    var offset = 1
    func put(_ byte: UInt8) {
      unsafe buffer[offset] = byte
      offset += 1
    }
    if let pictureID {
      if hasLongPictureID { put(0x80 | UInt8(truncatingIfNeeded: pictureID >> 8)) }
      put(UInt8(truncatingIfNeeded: pictureID) & (hasLongPictureID ? 0xFF : 0x7F))
    }
    if hasLayerIndices {
      put(
        temporalLayer << 5 | (isSwitchingPoint ? 0x10 : 0) | (spatialLayer & 7) << 1
          | (isInterLayerPredicted ? 1 : 0))
      if !isFlexible { put(baseLayerIndex) }
    }
    let count = referenceCount
    if count > 0 { put(references.0 << 1 | (count > 1 ? 1 : 0)) }
    if count > 1 { put(references.1 << 1 | (count > 2 ? 1 : 0)) }
    if count > 2 { put(references.2 << 1) }
    guard let structure else { return }
    put(
      UInt8(structure.spatialLayers - 1) << 5 | (structure.hasSizes ? 0x10 : 0)
        | (structure.groupSize > 0 ? 0x08 : 0))
    if structure.hasSizes {
      for layer in 0..<structure.spatialLayers {
        let (width, height) = structure.sizes[layer]
        put(UInt8(truncatingIfNeeded: width >> 8))
        put(UInt8(truncatingIfNeeded: width))
        put(UInt8(truncatingIfNeeded: height >> 8))
        put(UInt8(truncatingIfNeeded: height))
      }
    }
    guard structure.groupSize > 0 else { return }
    put(UInt8(structure.groupSize))
    for index in 0..<structure.groupSize {
      let picture = structure.groupPicture(index)
      // U, and one reference.
      put(picture.temporalLayer << 5 | 0x10 | 1 << 2)
      put(picture.reference)
    }
  }
}

// MARK: Moving

extension VP9Descriptor {
  /// Adds to the picture id and to TL0PICIDX of a payload in place, as a forwarding server does that changes its source; what a
  /// payload doesn't have stays away.
  public static func move(
    pictureID: UInt16, baseLayerIndex: UInt8, in payload: inout MutableRawSpan
  ) {
    guard payload.byteCount > 0 else { return }
    let first = payload.bytes.u8(0)
    var offset = 1
    if first & 0x80 != 0 {  // I
      guard let count = payload.movePictureID(by: pictureID, at: offset) else { return }
      offset += count
    }
    // L without F: behind the layer indices.
    if first & 0x30 == 0x20, offset + 1 < payload.byteCount {
      payload.put8(payload.bytes.u8(offset + 1) &+ baseLayerIndex, at: offset + 1)
    }
  }
}
