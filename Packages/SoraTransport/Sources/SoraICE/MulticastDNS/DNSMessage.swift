public import SoraWire

/// The part of DNS that asking for a name's addresses over multicast takes (RFC 1035 §4, RFC 6762).
public struct DNSMessage: Hashable, Sendable {
  /// Why bytes aren't a DNS message that this module reads.
  public enum Failure: Error, Hashable, Sendable {
    /// Something reaches beyond the end.
    case truncated
    /// A name with a label that is too long, a loop of pointers, or more than 255 bytes.
    case malformedName
    /// More records than a datagram of an honest responder has.
    case tooManyRecords
  }

  /// A record of type A or AAAA.
  public struct AddressRecord: Hashable, Sendable {
    /// In lower case, without the dot at the end.
    public let name: String
    public let address: IPAddress
    /// Seconds it stays true; 0 takes it back (RFC 6762 §10.1).
    public let timeToLive: UInt32

    public init(name: String, address: IPAddress, timeToLive: UInt32) {
      self.name = name
      self.address = address
      self.timeToLive = timeToLive
    }
  }

  /// 0 in multicast; a legacy query's in its answer (RFC 6762 §6.7).
  public var id: UInt16
  public var isResponse: Bool
  /// The names asked for.
  public var questions: [String]
  /// The addresses among answers and additional records.
  public var addresses: [AddressRecord]

  static let typeA: UInt16 = 1
  static let typeAAAA: UInt16 = 28
  static let classIN: UInt16 = 1

  public init(
    id: UInt16, isResponse: Bool = false, questions: [String] = [], addresses: [AddressRecord] = []
  ) {
    self.id = id
    self.isResponse = isResponse
    self.questions = questions
    self.addresses = addresses
  }

  // MARK: Reading

  public init(parsing bytes: RawSpan) throws(Failure) {
    guard bytes.byteCount >= 12 else { throw .truncated }
    self.init(id: bytes.u16(0), isResponse: bytes.u8(2) & 0x80 != 0)
    let counts = [4, 6, 8, 10].map { Int(bytes.u16($0)) }
    guard counts.reduce(0, +) <= 256 else { throw .tooManyRecords }
    var offset = 12
    for _ in 0..<counts[0] {
      questions.append(try Self.name(bytes, &offset))
      guard offset + 4 <= bytes.byteCount else { throw .truncated }
      offset += 4
    }
    for _ in 0..<counts[1] + counts[2] + counts[3] {
      let name = try Self.name(bytes, &offset)
      guard offset + 10 <= bytes.byteCount else { throw .truncated }
      let type = bytes.u16(offset)
      // RFC 6762 §10.2: the highest bit of the class says that a cache forgets what it had.
      let recordClass = bytes.u16(offset + 2) & 0x7FFF
      let timeToLive = bytes.u32(offset + 4)
      let length = Int(bytes.u16(offset + 8))
      offset += 10
      guard offset + length <= bytes.byteCount else { throw .truncated }
      if recordClass == Self.classIN, let address = Self.address(bytes, type, offset, length) {
        addresses.append(AddressRecord(name: name, address: address, timeToLive: timeToLive))
      }
      offset += length
    }
  }

  private static func address(
    _ bytes: RawSpan, _ type: UInt16, _ offset: Int, _ length: Int
  ) -> IPAddress? {
    switch (type, length) {
    case (typeA, 4): IPAddress(v4: bytes.u32(offset))
    case (typeAAAA, 16):
      IPAddress(v6: (bytes.u64(offset), bytes.u64(offset + 8)))
    default: nil
    }
  }

  // RFC 1035 §4.1.4. Pointers go backwards only, so that no chain of them can go on for ever.
  private static func name(_ bytes: RawSpan, _ offset: inout Int) throws(Failure)
    -> String
  {
    var name: [UInt8] = []
    var position = offset
    var limit = bytes.byteCount
    var isFollowing = false
    while true {
      guard position < limit else { throw .truncated }
      let length = Int(bytes.u8(position))
      switch length {
      case 0:
        if !isFollowing { offset = position + 1 }
        return String(decoding: name, as: UTF8.self)
      case 1...63:
        guard position + 1 + length <= bytes.byteCount else { throw .truncated }
        if !name.isEmpty { name.append(UInt8(ascii: ".")) }
        guard name.count + length <= 254 else { throw .malformedName }
        for offset in position + 1..<position + 1 + length {
          let byte = bytes.u8(offset)
          name.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
        }
        position += 1 + length
      case 0xC0...0xFF:
        guard position + 2 <= bytes.byteCount else { throw .truncated }
        let target = Int(bytes.u16(position) & 0x3FFF)
        if !isFollowing { offset = position + 2 }
        isFollowing = true
        guard target < position, target < limit else { throw .malformedName }
        limit = position
        position = target
      default: throw .malformedName
      }
    }
  }

  // MARK: Writing

  /// The bytes: for each question one of type A and one of type AAAA. `nil` where a name can't be written.
  public func encoded() -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: id)
    // RFC 6762 §18: a response is authoritative.
    bytes.append(bigEndian: UInt16(isResponse ? 0x8400 : 0))
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: questions.count * 2))
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: addresses.count))
    bytes.append(bigEndian: UInt32(0))
    for question in questions {
      for type in [Self.typeA, Self.typeAAAA] {
        guard Self.append(question, to: &bytes) else { return nil }
        bytes.append(bigEndian: type)
        bytes.append(bigEndian: Self.classIN)
      }
    }
    for record in addresses {
      guard Self.append(record.name, to: &bytes) else { return nil }
      bytes.append(bigEndian: record.address.isV4 ? Self.typeA : Self.typeAAAA)
      bytes.append(bigEndian: Self.classIN)
      bytes.append(bigEndian: record.timeToLive)
      bytes.append(bigEndian: UInt16(truncatingIfNeeded: record.address.bytes.count))
      bytes += record.address.bytes
    }
    return bytes
  }

  private static func append(_ name: String, to bytes: inout [UInt8]) -> Bool {
    guard name.utf8.count <= 253 else { return false }
    for label in name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: true) {
      guard label.count <= 63 else { return false }
      bytes.append(UInt8(label.count))
      bytes += label
    }
    bytes.append(0)
    return true
  }
}
