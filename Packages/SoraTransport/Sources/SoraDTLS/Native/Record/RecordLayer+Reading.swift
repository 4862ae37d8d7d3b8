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
    guard let index = readingIndex(of: header) else { return .locked(range) }
    var copy = [UInt8](copying: bytes)
    let opened = copy.withMutableRawSpan { header.open(&$0, &reading[index]) }
    switch opened {
    case .dropped(let reason): return .dropped(reason)
    case .content(let type, let number, let content):
      copy.keep(content)
      return .record(Record(type: type, number: number, payload: copy))
    }
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
    var copy = [UInt8](copying: body)
    guard let content = copy.withMutableRawSpan({ header.open(&$0, keys) }) else {
      return .dropped(.unauthenticated)
    }
    reading[index].window.take(header.number.sequence)
    copy.keep(content)
    return .record(Record(type: header.type, number: header.number, payload: copy))
  }

  // MARK: - A single record

  /// Decrypts a datagram where it is, if it is one protected record whose keys are there; of another nothing is touched.
  mutating func openSingle(_ datagram: inout MutableRawSpan) -> OpenedDatagram {
    let count = datagram.byteCount
    guard count > 0 else { return .other }
    let decrypted: DecryptedRecord
    if version == .v13 {
      guard let header = UnifiedHeader(datagram.bytes),
        header.length + header.bodyLength == count, let index = readingIndex(of: header)
      else { return .other }
      decrypted = header.open(&datagram, &reading[index])
    } else {
      guard let header = PlainHeader(datagram.bytes), header.length == count - PlainHeader.length,
        header.number.epoch > 0, header.version == DTLSVersion.v12.rawValue,
        (ContentType.changeCipherSpec...ContentType.ack).contains(header.type),
        let index = reading.firstIndex(where: { $0.epoch == header.number.epoch }),
        let keys = reading[index].keys
      else { return .other }
      var body = datagram.part(PlainHeader.length, header.length)
      if !reading[index].window.isFresh(header.number.sequence) {
        decrypted = .dropped(.replayed)
      } else if let content = header.open(&body, keys) {
        reading[index].window.take(header.number.sequence)
        let start = PlainHeader.length + content.lowerBound
        decrypted = .content(
          type: header.type, header.number, start..<(start + content.count))
      } else {
        decrypted = .dropped(.unauthenticated)
      }
    }
    switch decrypted {
    case .dropped(let reason): return .dropped(reason)
    case .content(ContentType.applicationData, let number, let content)
    where number.epoch >= (version == .v13 ? 3 : 1):
      return .applicationData(content)
    case .content(let type, let number, let content):
      let payload = [UInt8](copying: datagram.bytes.part(content.lowerBound, content.count))
      return .record(Record(type: type, number: number, payload: payload))
    }
  }

  /// RFC 9147 §4.2.2: the newest epoch with these bits. Epoch 0 has no such records.
  private func readingIndex(of header: UnifiedHeader) -> Int? {
    reading.lastIndex { $0.epoch & 3 == header.epochBits && $0.keys != nil }
  }
}

extension [UInt8] {
  /// Leaves nothing but this part.
  fileprivate mutating func keep(_ part: Range<Int>) {
    removeSubrange(part.upperBound...)
    removeSubrange(..<part.lowerBound)
  }
}
