import SoraMedia

/// Writes one RTP packet into memory of the caller: the header with its extensions, then payload.
///
/// The writer borrows the buffer: use it only while the buffer is valid.
@safe public struct RTPPacketWriter {
  private let buffer: UnsafeMutableRawBufferPointer
  /// Bytes written so far.
  public private(set) var count = 0
  /// Where the payload begins.
  public private(set) var payloadOffset = 0
  /// Where the three bytes of abs-send-time lie, for patching when the packet really leaves.
  public private(set) var absSendTimeOffset: Int?
  /// Where the two bytes of the transport-wide sequence number lie, for patching when the packet really leaves.
  public private(set) var transportSequenceNumberOffset: Int?

  public init(into buffer: UnsafeMutableRawBufferPointer) {
    unsafe self.buffer = unsafe buffer
  }

  /// Memory behind what is written, for a payloader to write into; report its bytes with `advance(by:)`.
  public var free: UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count..<buffer.count])
  }

  /// Takes `bytes` that were written into `free` into the packet.
  public mutating func advance(by bytes: Int) {
    count = unsafe min(buffer.count, count + max(0, bytes))
  }

  /// Starts the packet. Values without an id in `map` aren't written. Uses RFC 8285's one-byte form where ids
  /// and lengths allow it, else the two-byte form.
  ///
  /// - Parameters:
  ///   - header: the fields.
  ///   - extensions: the values. A frame's number is written into the descriptor where they have one.
  ///   - map: their ids.
  ///   - dependencyDescriptor: that extension's content, up to 255 bytes; empty for none.
  ///   - payloadCount: bytes of the payload that follows. Without room for it behind a dependency descriptor, that is left out.
  public mutating func writeHeader(
    _ header: RTPHeader, extensions: RTPHeaderExtensions = RTPHeaderExtensions(),
    map: RTPHeaderExtensionMap = RTPHeaderExtensionMap(),
    dependencyDescriptor: UnsafeRawBufferPointer = unsafe UnsafeRawBufferPointer(
      start: nil, count: 0),
    leaving payloadCount: Int = 0
  ) throws(RTPError) {
    var plan = ExtensionPlan(extensions, map, dependencyDescriptor.count)
    if plan.hasDependencyDescriptor,
      unsafe buffer.count - RTPHeader.fixedCount - plan.totalCount < payloadCount
    {
      plan = ExtensionPlan(extensions, map, 0)
    }
    let needed = RTPHeader.fixedCount + plan.totalCount
    guard unsafe buffer.count >= needed else {
      throw unsafe .noRoom(needed: needed, available: buffer.count)
    }
    unsafe buffer[0] = plan.totalCount > 0 ? 0x90 : 0x80
    unsafe buffer[1] = (header.marker ? 0x80 : 0) | header.payloadType & 0x7F
    unsafe buffer.put16(header.sequenceNumber, at: 2)
    unsafe buffer.put32(header.timestamp, at: 4)
    unsafe buffer.put32(header.ssrc, at: 8)
    count = RTPHeader.fixedCount
    absSendTimeOffset = nil
    transportSequenceNumberOffset = nil
    if plan.totalCount > 0 { unsafe writeExtensions(extensions, map, dependencyDescriptor, plan) }
    payloadOffset = count
  }

  /// Appends payload.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) throws(RTPError) {
    guard unsafe bytes.count <= buffer.count - count else {
      throw unsafe .noRoom(needed: bytes.count, available: buffer.count - count)
    }
    unsafe buffer.put(bytes, at: count)
    count += bytes.count
  }

  /// Ends the packet with `bytes` (1 to 255) of padding and sets the padding bit (RFC 3550 §5.1).
  public mutating func appendPadding(_ bytes: Int) throws(RTPError) {
    guard (1...255).contains(bytes), unsafe bytes <= buffer.count - count, count > 0 else {
      throw unsafe .noRoom(needed: bytes, available: buffer.count - count)
    }
    unsafe buffer.zero(count, bytes - 1)
    count += bytes
    unsafe buffer[count - 1] = UInt8(bytes)
    unsafe buffer[0] |= 0x20
  }

  private mutating func writeExtensions(
    _ values: RTPHeaderExtensions, _ map: RTPHeaderExtensionMap,
    _ dependencyDescriptor: UnsafeRawBufferPointer, _ plan: ExtensionPlan
  ) {
    unsafe buffer.put16(plan.isTwoByte ? 0x1000 : 0xBEDE, at: count)
    unsafe buffer.put16(UInt16((plan.totalCount - 4) / 4), at: count + 2)
    let end = count + plan.totalCount
    count += 4
    if let id = map.transportSequenceNumber, let value = values.transportSequenceNumber {
      startElement(id, 2, plan.isTwoByte)
      transportSequenceNumberOffset = count
      unsafe buffer.put16(value, at: count)
      count += 2
    }
    if let id = map.absSendTime, let value = values.absSendTime {
      startElement(id, 3, plan.isTwoByte)
      absSendTimeOffset = count
      unsafe buffer.put24(value, at: count)
      count += 3
    }
    if let id = map.audioLevel, let value = values.audioLevel {
      startElement(id, 1, plan.isTwoByte)
      unsafe buffer[count] = (value.hasVoice ? 0x80 : 0) | value.level & 0x7F
      count += 1
    }
    if let id = map.videoOrientation, let value = values.videoOrientation {
      startElement(id, 1, plan.isTwoByte)
      unsafe buffer[count] = value.rawValue
      count += 1
    }
    if let id = map.mid, let value = values.mid { writeText(id, value, plan.isTwoByte) }
    if let id = map.rid, let value = values.rid { writeText(id, value, plan.isTwoByte) }
    if let id = map.repairedRid, let value = values.repairedRid {
      writeText(id, value, plan.isTwoByte)
    }
    if let id = map.dependencyDescriptor, plan.hasDependencyDescriptor {
      startElement(id, dependencyDescriptor.count, plan.isTwoByte)
      unsafe buffer.put(dependencyDescriptor, at: count)
      if values.dependencyDescriptor.count > 0, dependencyDescriptor.count > 2 {
        unsafe buffer.put16(
          values.dependencyDescriptor.frameNumber,
          at: count + RTPDependencyDescriptorField.frameNumberOffset)
      }
      count += dependencyDescriptor.count
    }
    unsafe buffer.zero(count, end - count)
    count = end
  }

  private mutating func startElement(_ id: UInt8, _ valueCount: Int, _ isTwoByte: Bool) {
    if isTwoByte {
      unsafe buffer[count] = id
      unsafe buffer[count + 1] = UInt8(valueCount)
      count += 2
    } else {
      unsafe buffer[count] = id << 4 | UInt8(valueCount - 1)
      count += 1
    }
  }

  private mutating func writeText(_ id: UInt8, _ text: RTPExtensionText, _ isTwoByte: Bool) {
    guard text.count > 0 else { return }
    startElement(id, text.count, isTwoByte)
    unsafe text.withUnsafeBytes { unsafe buffer.put($0, at: count) }
    count += text.count
  }
}

/// Which form the extensions of a packet take and how long they get.
private struct ExtensionPlan {
  /// Bytes of the whole header extension with its four-byte start; 0 when nothing is to be written.
  var totalCount = 0
  var isTwoByte = false
  var hasDependencyDescriptor = false

  private var elements = 0
  private var valueBytes = 0

  init(
    _ values: RTPHeaderExtensions, _ map: RTPHeaderExtensionMap, _ dependencyDescriptorCount: Int
  ) {
    if values.transportSequenceNumber != nil { add(map.transportSequenceNumber, 2) }
    if values.absSendTime != nil { add(map.absSendTime, 3) }
    if values.audioLevel != nil { add(map.audioLevel, 1) }
    if values.videoOrientation != nil { add(map.videoOrientation, 1) }
    if let text = values.mid { add(map.mid, text.count) }
    if let text = values.rid { add(map.rid, text.count) }
    if let text = values.repairedRid { add(map.repairedRid, text.count) }
    hasDependencyDescriptor =
      map.dependencyDescriptor != nil && (1...255).contains(dependencyDescriptorCount)
    if hasDependencyDescriptor { add(map.dependencyDescriptor, dependencyDescriptorCount) }
    guard elements > 0 else { return }
    let bytes = valueBytes + elements * (isTwoByte ? 2 : 1)
    totalCount = 4 + (bytes + 3) & ~3
  }

  private mutating func add(_ id: UInt8?, _ count: Int) {
    guard let id, count > 0 else { return }
    elements += 1
    valueBytes += count
    if id > 14 || count > 16 { isTwoByte = true }
  }
}
