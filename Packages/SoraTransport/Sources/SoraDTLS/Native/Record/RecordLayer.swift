import SoraWire

/// Makes records of payloads and payloads of records: the epochs, their keys and their numbers, in both directions.
struct RecordLayer {
  private struct Writing {
    var epoch: UInt64
    var keys: RecordProtection?
    var next: UInt64 = 0
  }

  /// Once it is agreed on; decides what protected records look like.
  var version: DTLSVersion?
  private var writing = [Writing(epoch: 0)]
  /// What a ChangeCipherSpec makes the keys of what is sent (RFC 5246 §6.1: the pending state).
  private var prepared: RecordProtection?
  var reading = [EpochReading(epoch: 0)]
  /// Whether an authentic record came: from then on alerts in clear mean nothing.
  private(set) var hasProtectedInput = false

  /// The epoch of what is sent now.
  var writeEpoch: UInt64 { writing.last?.epoch ?? 0 }
  /// The newest epoch that can be read.
  var readEpoch: UInt64 { reading.last?.epoch ?? 0 }

  mutating func startWriting(epoch: UInt64, _ keys: RecordProtection) {
    writing.append(Writing(epoch: epoch, keys: keys))
  }

  /// Holds keys for `startWritingPrepared`, and writes with those of before until then.
  mutating func prepareWriting(_ keys: RecordProtection) { prepared = keys }

  mutating func startWritingPrepared(epoch: UInt64) throws(HandshakeFailure) {
    guard let keys = prepared else { throw .unexpected("no keys to write with") }
    prepared = nil
    startWriting(epoch: epoch, keys)
  }

  /// Starts reading an epoch; 1.3 tells epochs apart by two bits, so the old ones go.
  mutating func startReading(epoch: UInt64, _ keys: RecordProtection) {
    reading.append(EpochReading(epoch: epoch, keys: keys))
    reading.removeAll { $0.epoch != 0 && $0.epoch + 2 <= epoch }
  }

  /// Forgets the keys of earlier writing epochs.
  mutating func stopWriting(before epoch: UInt64) {
    writing.removeAll { $0.epoch < epoch && $0.epoch != 0 }
  }

  /// How many records were sent in the current epoch.
  var writtenCount: UInt64 { writing.last?.next ?? 0 }

  /// Bytes that an epoch's protection adds to a payload.
  func overhead(_ epoch: UInt64) -> Int {
    guard let keys = writing.first(where: { $0.epoch == epoch })?.keys else {
      return PlainHeader.length
    }
    // A content type hides behind the content in 1.3.
    return version == .v13
      ? UnifiedHeader.writtenLength + 1 + AEADCipher.tagLength
      : PlainHeader.length + keys.explicitNonceLength + AEADCipher.tagLength
  }

  /// Takes the next record of a datagram and moves `offset` behind it.
  mutating func open(_ datagram: RawSpan, at offset: inout Int) -> OpenedRecord {
    let opened = openNext(datagram, at: &offset)
    if case .record(let record) = opened, record.number.epoch > 0 { hasProtectedInput = true }
    return opened
  }

  /// Appends a record to a datagram.
  ///
  /// Fails where the epoch has no keys, or no numbers left.
  mutating func seal(
    _ type: UInt8, epoch: UInt64, _ payload: RawSpan, into datagram: inout [UInt8]
  ) throws(HandshakeFailure) -> RecordNumber {
    let start = datagram.count
    let total = overhead(epoch) + payload.byteCount
    datagram.append(contentsOf: repeatElement(0, count: total))
    return try datagram.withMutableRawSpan { all throws(HandshakeFailure) in
      var memory = all.part(start, total)
      return try write(type, epoch: epoch, payload, into: &memory)
    }
  }

  /// Writes a record into memory that holds just it; `overhead` says how much that is.
  ///
  /// Fails where the epoch has no keys, or no numbers left.
  mutating func write(
    _ type: UInt8, epoch: UInt64, _ payload: RawSpan, into memory: inout MutableRawSpan
  ) throws(HandshakeFailure) -> RecordNumber {
    guard let index = writing.firstIndex(where: { $0.epoch == epoch }),
      payload.byteCount <= Record.contentLimit
    else { throw .library("a record for an epoch without keys") }
    let number = RecordNumber(epoch: epoch, sequence: writing[index].next)
    guard number.sequence < RecordNumber.sequenceLimit else {
      throw .library("an epoch ran out of record numbers")
    }
    writing[index].next += 1
    guard let keys = writing[index].keys else {
      PlainHeader(type: type, number: number, length: payload.byteCount).write(to: &memory)
      memory.put(payload, at: PlainHeader.length)
      return number
    }
    let isSealed =
      version == .v13
      ? UnifiedHeader.seal(type, number, payload, keys, into: &memory)
      : PlainHeader.seal(type, number, payload, keys, into: &memory)
    guard isSealed else { throw .library(takeLibraryError()) }
    return number
  }
}
