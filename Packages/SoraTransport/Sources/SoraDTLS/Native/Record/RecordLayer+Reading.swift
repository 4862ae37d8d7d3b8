import SoraWire

extension RecordLayer {
  /// As `open`, for which it does the work.
  mutating func openNext(_ datagram: RawSpan, at offset: inout Int) -> OpenedRecord {
    guard offset < datagram.byteCount else { return .malformed }
    let bytes = datagram.part(from: offset)
    if UnifiedHeader.isOne(bytes.u8(0)) {
      guard let header = UnifiedHeader(bytes) else { return .malformed }
      let range = offset..<(offset + header.length + header.bodyLength)
      offset = range.upperBound
      // In a session of 1.2 such bytes mean nothing.
      guard version != .v12 else { return .dropped(.unexpected) }
      return openUnified(header, datagram.extracting(range), range)
    }
    guard let header = PlainHeader(bytes), bytes.byteCount - PlainHeader.length >= header.length,
      (ContentType.changeCipherSpec...ContentType.ack).contains(header.type),
      // RFC 6347 §4.1: a first hello may still say 1.0.
      header.version == DTLSVersion.v12.rawValue || header.version == 0xFEFF
    else { return .malformed }
    let range = offset..<(offset + PlainHeader.length + header.length)
    offset = range.upperBound
    return openPlain(header, bytes.part(PlainHeader.length, header.length), range)
  }

  private mutating func openUnified(
    _ header: UnifiedHeader, _ bytes: RawSpan, _ range: Range<Int>
  ) -> OpenedRecord {
    // RFC 9147 §4.2.2: the newest epoch with these bits. Epoch 0 has no such records.
    guard
      let index = reading.lastIndex(where: {
        $0.epoch & 3 == header.epochBits && $0.keys != nil
      })
    else { return .locked(range) }
    return header.open(bytes, &reading[index])
  }

  private mutating func openPlain(
    _ header: PlainHeader, _ body: RawSpan, _ range: Range<Int>
  ) -> OpenedRecord {
    if header.number.epoch == 0 {
      guard header.length <= Record.contentLimit else { return .dropped(.malformed) }
      // No replay protection: anybody could push the window ahead. Handshake messages have numbers of their own.
      return .record(
        Record(type: header.type, number: header.number, payload: [UInt8](copying: body)))
    }
    // 1.3 protects with the other header only.
    guard version != .v13 else { return .dropped(.unexpected) }
    guard let index = reading.firstIndex(where: { $0.epoch == header.number.epoch }),
      let keys = reading[index].keys
    else { return .locked(range) }
    guard header.version == DTLSVersion.v12.rawValue else { return .dropped(.unexpected) }
    guard reading[index].window.isFresh(header.number.sequence) else { return .dropped(.replayed) }
    guard let payload = header.open(body, keys) else { return .dropped(.unauthenticated) }
    reading[index].window.take(header.number.sequence)
    return .record(Record(type: header.type, number: header.number, payload: payload))
  }
}
