/// Changes to RTP packets that are already in memory: what a forwarding server and a pacer do.
///
/// Every function leaves a buffer alone that is too short for the field.
public enum RTPPacket {
  public static func setPayloadType(_ type: UInt8, in packet: UnsafeMutableRawBufferPointer) {
    guard packet.count >= RTPHeader.fixedCount else { return }
    unsafe packet[1] = unsafe packet[1] & 0x80 | type & 0x7F
  }

  public static func setMarker(_ marker: Bool, in packet: UnsafeMutableRawBufferPointer) {
    guard packet.count >= RTPHeader.fixedCount else { return }
    unsafe packet[1] = unsafe packet[1] & 0x7F | (marker ? 0x80 : 0)
  }

  public static func setSequenceNumber(
    _ number: UInt16, in packet: UnsafeMutableRawBufferPointer
  ) {
    guard packet.count >= RTPHeader.fixedCount else { return }
    unsafe packet.put16(number, at: 2)
  }

  public static func setTimestamp(_ timestamp: UInt32, in packet: UnsafeMutableRawBufferPointer) {
    guard packet.count >= RTPHeader.fixedCount else { return }
    unsafe packet.put32(timestamp, at: 4)
  }

  public static func setSSRC(_ ssrc: UInt32, in packet: UnsafeMutableRawBufferPointer) {
    guard packet.count >= RTPHeader.fixedCount else { return }
    unsafe packet.put32(ssrc, at: 8)
  }

  /// Writes abs-send-time at an offset that `RTPPacketWriter` or `extensionRange(id:in:)` told.
  public static func setAbsSendTime(
    _ value: UInt32, at offset: Int, in packet: UnsafeMutableRawBufferPointer
  ) {
    guard offset >= RTPHeader.fixedCount, offset + 3 <= packet.count else { return }
    unsafe packet.put24(value, at: offset)
  }

  /// Writes the transport-wide sequence number at an offset that `RTPPacketWriter` or
  /// `extensionRange(id:in:)` told.
  public static func setTransportSequenceNumber(
    _ value: UInt16, at offset: Int, in packet: UnsafeMutableRawBufferPointer
  ) {
    guard offset >= RTPHeader.fixedCount, offset + 2 <= packet.count else { return }
    unsafe packet.put16(value, at: offset)
  }

  /// Copies a packet to `output` with the fields of `header` and other extensions: what a server does for each
  /// receiver, whose extension ids, mids and sequence numbers are its own. Contributing sources and padding
  /// aren't copied.
  ///
  /// A dependency descriptor is copied from `packet`, where `extensions` says that it lies there, with the number that they say, and
  /// left out where the packet would find no room with it.
  ///
  /// `header` is the parsed header of `packet`, with fields (ssrc, sequence number, payload type, marker,
  /// timestamp) changed as wanted; its offsets must be those of `packet`. Without `copiesPayload` the header alone is
  /// written, for a payload that is protected where it lies. Returns the writer, whose `count` is the length of what it
  /// wrote and whose offsets allow patching.
  public static func rewriteExtensions(
    of packet: UnsafeRawBufferPointer, header: RTPHeader, extensions: RTPHeaderExtensions,
    map: RTPHeaderExtensionMap, copiesPayload: Bool = true,
    into output: UnsafeMutableRawBufferPointer
  ) throws(RTPError) -> RTPPacketWriter {
    guard header.payloadOffset >= 0, header.payloadCount >= 0,
      header.payloadOffset <= packet.count - header.payloadCount
    else {
      throw .truncated(
        needed: header.payloadOffset &+ header.payloadCount, available: packet.count)
    }
    var writer = unsafe RTPPacketWriter(into: output)
    unsafe try writer.writeHeader(
      header, extensions: extensions, map: map,
      dependencyDescriptor: extensions.dependencyDescriptor.bytes(in: packet),
      leaving: header.payloadCount)
    if copiesPayload {
      unsafe try writer.append(packet.part(header.payloadOffset, header.payloadCount))
    }
    return writer
  }
}
