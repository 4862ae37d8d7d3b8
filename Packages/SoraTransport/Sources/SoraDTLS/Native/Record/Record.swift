/// The types of a record's content (RFC 9147 §4.1).
enum ContentType {
  static let changeCipherSpec: UInt8 = 20
  static let alert: UInt8 = 21
  static let handshake: UInt8 = 22
  static let applicationData: UInt8 = 23
  static let ack: UInt8 = 26
}

/// A record that proved to be genuine, or whose epoch has no keys.
struct Record {
  /// RFC 6347 §4.1: bytes of a record's content at most.
  static let contentLimit = 1 << 14

  var type: UInt8
  var number: RecordNumber
  var payload: [UInt8]
}

/// What the bytes of a record turned out to be.
enum OpenedRecord {
  case record(Record)
  /// There are no keys for the record's epoch, at least not yet.
  case locked(Range<Int>)
  case dropped(RecordDrop)
  /// What is left of the datagram isn't a record.
  case malformed
}

/// What the memory of a protected record holds after decryption.
enum DecryptedRecord {
  /// Where the content lies in the record's bytes.
  case content(type: UInt8, RecordNumber, Range<Int>)
  case dropped(RecordDrop)
}

/// What a datagram was that may be a single record of data.
enum OpenedDatagram {
  /// The message lies here.
  case applicationData(Range<Int>)
  /// It was another genuine record.
  case record(Record)
  case dropped(RecordDrop)
  /// Nothing was touched: `open` has to take it.
  case other
}

/// Why a record is of no use.
enum RecordDrop {
  case malformed
  case unauthenticated
  case replayed
  /// Of another version.
  case unexpected
}

/// What reading an epoch's records takes.
struct EpochReading {
  var epoch: UInt64
  var keys: RecordProtection?
  var window = ReplayWindow()
}
