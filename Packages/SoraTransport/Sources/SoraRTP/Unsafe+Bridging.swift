public import SoraMedia
import SoraWire

// For callers that still hold pointers. Nothing here reads: each makes a span and passes it on.

extension RTPHeader {
  /// `init(parsing:)` for a caller with a pointer.
  public init(parsing packet: UnsafeRawBufferPointer) throws(RTPError) {
    unsafe try self.init(parsing: packet.bytes)
  }

  /// `payload(in:)` for a caller with a pointer. Valid while the packet's memory is.
  public func payload(in packet: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard payloadCount > 0, payloadOffset + payloadCount <= packet.count else {
      return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return unsafe packet.part(payloadOffset, payloadCount)
  }

  /// `isRTCP(_:)` for a caller with a pointer.
  public static func isRTCP(_ datagram: UnsafeRawBufferPointer) -> Bool {
    unsafe isRTCP(datagram.bytes)
  }

  /// `extensionRange(id:in:)` for a caller with a pointer.
  public func extensionRange(id: UInt8, in packet: UnsafeRawBufferPointer) -> Range<Int>? {
    unsafe extensionRange(id: id, in: packet.bytes)
  }
}

extension RTPExtensionElements {
  /// `init(of:in:)` for a caller with a pointer.
  @_lifetime(borrow packet)
  public init(of header: RTPHeader, in packet: UnsafeRawBufferPointer) {
    unsafe self.init(of: header, in: packet.bytes)
  }
}

extension RTPHeaderExtensions {
  /// `init(of:in:map:)` for a caller with a pointer.
  public init(of header: RTPHeader, in packet: UnsafeRawBufferPointer, map: RTPHeaderExtensionMap) {
    unsafe self.init(of: header, in: packet.bytes, map: map)
  }
}

extension RTPDependencyDescriptorField {
  /// Its bytes in the packet that it was read from; empty where there are none. Valid while the packet's memory is.
  public func bytes(in packet: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    unsafe packet.part(Int(offset), Int(offset) + Int(count) <= packet.count ? Int(count) : 0)
  }
}

extension VP8Descriptor {
  /// `init(parsing:count:)` for a caller with a pointer.
  public init(parsing payload: UnsafeRawBufferPointer, count: inout Int) throws(RTPError) {
    unsafe try self.init(parsing: payload.bytes, count: &count)
  }
}

extension VP9Descriptor {
  /// `init(parsing:count:)` for a caller with a pointer.
  public init(parsing payload: UnsafeRawBufferPointer, count: inout Int) throws(RTPError) {
    unsafe try self.init(parsing: payload.bytes, count: &count)
  }
}

extension DependencyDescriptor {
  /// `init(parsing:structure:)` for a caller with a pointer.
  public init(parsing bytes: UnsafeRawBufferPointer, structure known: Structure?) throws(RTPError) {
    unsafe try self.init(parsing: bytes.bytes, structure: known)
  }
}

extension RTPDepayloader {
  /// `parse(_:marker:)` for a caller with a pointer.
  public func parse(
    _ payload: UnsafeRawBufferPointer, marker: Bool
  ) throws(RTPError) -> RTPPayloadInfo {
    unsafe try parse(payload.bytes, marker: marker)
  }

  /// `append(_:info:to:)` for a caller with a pointer.
  public func append(
    _ payload: UnsafeRawBufferPointer, info: RTPPayloadInfo, to frame: EncodedBuffer
  ) {
    unsafe append(payload.bytes, info: info, to: frame)
  }
}

extension VideoJitterBuffer {
  /// `insert(_:payload:isRetransmission:rotation:dependencyDescriptor:at:)` for a caller with pointers.
  public func insert(
    _ header: RTPHeader, payload: UnsafeRawBufferPointer, isRetransmission: Bool = false,
    rotation: VideoRotation? = nil,
    dependencyDescriptor: UnsafeRawBufferPointer = unsafe UnsafeRawBufferPointer(
      start: nil, count: 0),
    at now: Instant
  ) {
    unsafe insert(
      header, payload: payload.bytes, isRetransmission: isRetransmission, rotation: rotation,
      dependencyDescriptor: dependencyDescriptor.bytes, at: now)
  }
}
