import SoraWire

/// The VP8 payload descriptor (RFC 7741 §4.2).
public struct VP8Descriptor: Equatable, Sendable {
  /// N: no other frame refers to this one.
  public var isNonReference = false
  /// S: the payload begins a VP8 partition.
  public var isPartitionStart = false
  /// PID: which partition, 0 to 7.
  public var partitionID: UInt8 = 0
  /// 7 or 15 bits.
  public var pictureID: UInt16?
  /// Whether the picture id takes 15 bits; writers always use them.
  public var hasLongPictureID = true
  public var baseLayerIndex: UInt8?
  /// TID with Y, present together.
  public var temporalLayer: UInt8?
  public var isLayerSync = false
  /// KEYIDX, 0 to 31.
  public var keyIndex: UInt8?

  public init() {}

  /// The most bytes that a descriptor takes.
  static let maximumCount = 6

  /// Parses the start of a payload; `count` receives the descriptor's length.
  public init(
    parsing payload: RawSpan, count: inout Int
  ) throws(RTPError) {
    guard payload.byteCount >= 1 else { throw .truncated(needed: 1, available: 0) }
    let first = payload.u8(0)
    isNonReference = first & 0x20 != 0
    isPartitionStart = first & 0x10 != 0
    partitionID = first & 0x07
    var offset = 1
    if first & 0x80 != 0 {
      guard payload.byteCount > offset else {
        throw .truncated(needed: offset + 1, available: payload.byteCount)
      }
      let extensions = payload.u8(offset)
      offset += 1
      if extensions & 0x80 != 0 {  // I
        guard payload.byteCount > offset else {
          throw .truncated(needed: offset + 1, available: payload.byteCount)
        }
        hasLongPictureID = payload.u8(offset) & 0x80 != 0
        if hasLongPictureID {
          guard payload.byteCount > offset + 1 else {
            throw .truncated(needed: offset + 2, available: payload.byteCount)
          }
          pictureID = payload.u16(offset) & 0x7FFF
          offset += 2
        } else {
          pictureID = UInt16(payload.u8(offset))
          offset += 1
        }
      }
      if extensions & 0x40 != 0 {  // L
        guard payload.byteCount > offset else {
          throw .truncated(needed: offset + 1, available: payload.byteCount)
        }
        baseLayerIndex = payload.u8(offset)
        offset += 1
      }
      if extensions & 0x30 != 0 {  // T, K
        guard payload.byteCount > offset else {
          throw .truncated(needed: offset + 1, available: payload.byteCount)
        }
        let byte = payload.u8(offset)
        if extensions & 0x20 != 0 {
          temporalLayer = byte >> 6
          isLayerSync = byte & 0x20 != 0
        }
        if extensions & 0x10 != 0 { keyIndex = byte & 0x1F }
        offset += 1
      }
    }
    count = offset
  }

  /// Bytes that `write` takes.
  public var byteCount: Int {
    let hasLayerByte = temporalLayer != nil || keyIndex != nil
    if pictureID == nil, baseLayerIndex == nil, !hasLayerByte { return 1 }
    return 2 + (pictureID != nil ? (hasLongPictureID ? 2 : 1) : 0)
      + (baseLayerIndex != nil ? 1 : 0) + (hasLayerByte ? 1 : 0)
  }

  /// Writes the descriptor to the start of `buffer`, which must hold `byteCount` bytes.
  public func write(into buffer: UnsafeMutableRawBufferPointer) throws(RTPError) {
    let size = byteCount
    guard buffer.count >= size else { throw .noRoom(needed: size, available: buffer.count) }
    unsafe buffer[0] =
      (size > 1 ? 0x80 : 0) | (isNonReference ? 0x20 : 0) | (isPartitionStart ? 0x10 : 0)
      | partitionID & 0x07
    if size == 1 { return }
    let hasLayerByte = temporalLayer != nil || keyIndex != nil
    unsafe buffer[1] =
      (pictureID != nil ? 0x80 : 0) | (baseLayerIndex != nil ? 0x40 : 0)
      | (temporalLayer != nil ? 0x20 : 0) | (keyIndex != nil ? 0x10 : 0)
    var offset = 2
    if let pictureID {
      if hasLongPictureID {
        unsafe buffer.put16(0x8000 | pictureID & 0x7FFF, at: offset)
        offset += 2
      } else {
        unsafe buffer[offset] = UInt8(truncatingIfNeeded: pictureID & 0x7F)
        offset += 1
      }
    }
    if let baseLayerIndex {
      unsafe buffer[offset] = baseLayerIndex
      offset += 1
    }
    if hasLayerByte {
      unsafe buffer[offset] =
        (temporalLayer ?? 0) << 6 | (isLayerSync ? 0x20 : 0) | (keyIndex ?? 0) & 0x1F
    }
  }
}

extension VP8Descriptor {
  /// Adds to the picture id and to TL0PICIDX of a payload in place, as a forwarding server does that leaves frames out or changes
  /// its source; what a payload doesn't have stays away.
  public static func move(
    pictureID: UInt16, baseLayerIndex: UInt8, in payload: inout MutableRawSpan
  ) {
    // X.
    guard payload.byteCount >= 3, payload.bytes.u8(0) & 0x80 != 0 else { return }
    let extensions = payload.bytes.u8(1)
    var offset = 2
    if extensions & 0x80 != 0 {  // I
      guard let count = payload.movePictureID(by: pictureID, at: offset) else { return }
      offset += count
    }
    if extensions & 0x40 != 0, offset < payload.byteCount {  // L
      payload.put8(payload.bytes.u8(offset) &+ baseLayerIndex, at: offset)
    }
  }
}

extension MutableRawSpan {
  /// Adds to a picture id of 7 or 15 bits, as VP8's and VP9's descriptors have it.
  ///
  /// - Returns: the bytes that it takes; nil where they aren't there.
  @_lifetime(self: copy self)
  mutating func movePictureID(by difference: UInt16, at offset: Int) -> Int? {
    guard offset < byteCount else { return nil }
    let first = bytes.u8(offset)
    guard first & 0x80 != 0 else {
      put8(UInt8(truncatingIfNeeded: UInt16(first) &+ difference) & 0x7F, at: offset)
      return 1
    }
    guard offset + 1 < byteCount else { return nil }
    put16(0x8000 | ((bytes.u16(offset) &+ difference) & 0x7FFF), at: offset)
    return 2
  }
}

/// The first bytes of a VP8 frame (RFC 6386 §9.1).
enum VP8FrameHeader {
  /// Whether the frame that begins with `bytes` is a key frame: the lowest bit of the frame tag is 0.
  static func isKeyFrame(_ bytes: RawSpan) -> Bool {
    bytes.byteCount >= 1 && bytes.u8(0) & 0x01 == 0
  }

  /// Width and height of a key frame; `nil` when the start code isn't there.
  static func keyFrameSize(_ bytes: RawSpan) -> (width: Int, height: Int)? {
    guard bytes.byteCount >= 10, isKeyFrame(bytes), bytes.u8(3) == 0x9D, bytes.u8(4) == 0x01,
      bytes.u8(5) == 0x2A
    else { return nil }
    // Little-endian, the two highest bits are the upscaling factor.
    let width = (Int(bytes.u8(6)) | Int(bytes.u8(7)) << 8) & 0x3FFF
    let height = (Int(bytes.u8(8)) | Int(bytes.u8(9)) << 8) & 0x3FFF
    return (width, height)
  }
}
