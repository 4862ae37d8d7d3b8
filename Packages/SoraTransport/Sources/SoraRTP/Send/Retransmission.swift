/// The retransmission payload format (RFC 4588 §4): a packet sent again on a source of its own, with the original
/// sequence number in front of the payload.
public enum Retransmission {
  /// Bytes that a retransmission is longer than its original, extensions apart.
  public static let overhead = 2

  /// Writes the retransmission of `packet`, a plain packet from the history, into `output`.
  ///
  /// Marker and timestamp are the original's (RFC 4588 §4). `extensions` are written instead of the original's;
  /// name the repaired stream in `repairedRid` where rids are used. A dependency descriptor is the original's.
  public static func build(
    of packet: UnsafeRawBufferPointer, ssrc: UInt32, sequenceNumber: UInt16, payloadType: UInt8,
    extensions: RTPHeaderExtensions, map: RTPHeaderExtensionMap,
    into output: UnsafeMutableRawBufferPointer
  ) throws(RTPError) -> RTPPacketWriter {
    let original = unsafe try RTPHeader(parsing: packet)
    var header = original
    header.ssrc = ssrc
    header.sequenceNumber = sequenceNumber
    header.payloadType = payloadType
    let descriptor = map.dependencyDescriptor.flatMap {
      unsafe original.extensionRange(id: $0, in: packet)
    }
    return unsafe try write(
      header, originalNumber: original.sequenceNumber,
      payload: packet.part(original.payloadOffset, original.payloadCount), extensions: extensions,
      map: map,
      dependencyDescriptor: packet.part(descriptor?.lowerBound ?? 0, descriptor?.count ?? 0),
      into: output)
  }

  /// Writes a retransmission part by part: for who sends another's packets on, under numbers of their own.
  ///
  /// - Parameters:
  ///   - header: the retransmission's own.
  ///   - originalNumber: the sequence number under which the receiver misses the packet.
  ///   - payload: the original's.
  ///   - extensions: what is written into the header. Where they have a frame's number, it is the dependency descriptor's.
  ///   - map: their ids.
  ///   - dependencyDescriptor: the original's; empty for none. It is left out where the packet would find no room with it.
  ///   - output: where it is written. The original's payload begins `overhead` bytes behind the writer's `payloadOffset`.
  public static func write(
    _ header: RTPHeader, originalNumber: UInt16, payload: UnsafeRawBufferPointer,
    extensions: RTPHeaderExtensions, map: RTPHeaderExtensionMap,
    dependencyDescriptor: UnsafeRawBufferPointer = unsafe UnsafeRawBufferPointer(
      start: nil, count: 0),
    into output: UnsafeMutableRawBufferPointer
  ) throws(RTPError) -> RTPPacketWriter {
    var writer = unsafe RTPPacketWriter(into: output)
    unsafe try writer.writeHeader(
      header, extensions: extensions, map: map, dependencyDescriptor: dependencyDescriptor,
      leaving: overhead + payload.count)
    let free = unsafe writer.free
    let needed = overhead + payload.count
    guard free.count >= needed else { throw .noRoom(needed: needed, available: free.count) }
    unsafe free.put16(originalNumber, at: 0)
    unsafe free.put(payload, at: overhead)
    writer.advance(by: needed)
    return writer
  }

  /// The header that the original packet had, given the parsed header of a retransmission; its payload range lies
  /// in the same `packet`, so nothing is copied. `nil` for a packet too short to carry an original, such as a
  /// padding probe.
  public static func restore(
    _ header: RTPHeader, in packet: UnsafeRawBufferPointer, ssrc: UInt32, payloadType: UInt8
  ) -> RTPHeader? {
    guard header.payloadCount > overhead, header.payloadOffset >= 0,
      header.payloadOffset + header.payloadCount <= packet.count
    else { return nil }
    var original = header
    original.sequenceNumber = unsafe packet.u16(header.payloadOffset)
    original.ssrc = ssrc
    original.payloadType = payloadType & 0x7F
    original.payloadOffset += overhead
    original.payloadCount -= overhead
    return original
  }
}
