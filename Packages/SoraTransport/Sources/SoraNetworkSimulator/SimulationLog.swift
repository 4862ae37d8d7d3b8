import SoraICE

/// What happened in a simulated network, in order.
///
/// Every event goes into `digest`, contents of datagrams included, so two runs of one seed can be compared by one
/// number. How many events are also kept for reading is a choice (`retention`).
public final class SimulationLog {
  /// Which events are kept to be read.
  public enum Retention: Sendable, Equatable {
    /// None; `digest` alone tells runs apart.
    case digestOnly
    /// At least the last so many events; memory for at most twice as many is used.
    case latest(Int)
    /// All of them, about 100 bytes each.
    case everything
  }

  /// What an event is about.
  enum Kind: UInt8 {
    case sent, delivered, lostAtRandom, lostInBurst, queueFull, linkDown, tooLarge, duplicated
    case noRoute, noEndpoint, hopLimit, filtered, unknownSender
    case message, note
    case stream, droppedByCoDel

    var name: String {
      switch self {
      case .sent: "send"
      case .delivered: "recv"
      case .lostAtRandom: "drop:loss"
      case .lostInBurst: "drop:burst"
      case .queueFull: "drop:queue"
      case .linkDown: "drop:down"
      case .tooLarge: "drop:large"
      case .duplicated: "dup"
      case .noRoute: "drop:no-route"
      case .noEndpoint: "drop:no-endpoint"
      case .hopLimit: "drop:hops"
      case .filtered: "drop:filtered"
      case .unknownSender: "drop:unknown-sender"
      case .message: "message"
      case .note: "note"
      case .stream: "stream"
      case .droppedByCoDel: "drop:codel"
      }
    }
  }

  private struct Entry {
    var time: Int64
    var kind: Kind
    var count: Int32
    /// Index into `texts` for messages and notes, -1 for datagrams.
    var text: Int32
    var checksum: UInt64
    var source: TransportAddress?
    var destination: TransportAddress?
  }

  /// How much is kept to be read. A change acts on what comes next.
  public var retention: Retention
  /// A number that depends on every event so far.
  public private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
  /// How many events there were.
  public private(set) var eventCount = 0
  /// Called with each line as it happens, for following a run or writing it to a file. Slow; off by default.
  public var onLine: ((String) -> Void)?

  private var entries: [Entry] = []
  private var texts: [String] = []

  init(retention: Retention) { self.retention = retention }

  /// The kept events, oldest first, one compact line each:
  /// `milliseconds what source>destination bytes checksum`, or `milliseconds what text`.
  public var lines: [String] { entries.map { line($0, texts: texts) } }

  /// The kept lines with a final line feed each.
  public var text: String { lines.reduce(into: "") { $0 += $1 + "\n" } }

  func record(
    _ kind: Kind, at now: Int64, _ header: UnsafePointer<DatagramHeader>,
    _ content: UnsafeMutableRawBufferPointer
  ) {
    let checksum = unsafe SimulationLog.checksum(content, count: Int(header.pointee.count))
    mix(UInt64(bitPattern: now))
    unsafe mix(UInt64(kind.rawValue) << 56 | UInt64(UInt32(bitPattern: header.pointee.count)))
    unsafe mix(UInt64(header.pointee.source.port) << 16 | UInt64(header.pointee.destination.port))
    mix(checksum)
    eventCount += 1
    if retention == .digestOnly && onLine == nil { return }
    unsafe keep(
      Entry(
        time: now, kind: kind, count: header.pointee.count, text: -1, checksum: checksum,
        source: header.pointee.source, destination: header.pointee.destination), text: nil)
  }

  func record(_ kind: Kind, at now: Int64, _ text: String) {
    var copy = text
    let checksum = copy.withUTF8 { bytes in
      unsafe SimulationLog.checksum(
        UnsafeMutableRawBufferPointer(mutating: UnsafeRawBufferPointer(bytes)), count: bytes.count)
    }
    mix(UInt64(bitPattern: now))
    mix(UInt64(kind.rawValue) << 56)
    mix(checksum)
    eventCount += 1
    if retention == .digestOnly && onLine == nil { return }
    keep(
      Entry(
        time: now, kind: kind, count: 0, text: Int32(truncatingIfNeeded: texts.count),
        checksum: checksum, source: nil, destination: nil), text: text)
  }

  private func keep(_ entry: Entry, text: String?) {
    if let onLine {
      var shown = entry
      if text != nil { shown.text = 0 }
      onLine(line(shown, texts: text.map { [$0] } ?? []))
    }
    switch retention {
    case .digestOnly: return
    case .everything: break
    case .latest(let limit):
      if entries.count >= 2 * max(limit, 1) { forget(keeping: max(limit, 1)) }
    }
    var kept = entry
    if let text {
      kept.text = Int32(truncatingIfNeeded: texts.count)
      texts.append(text)
    }
    entries.append(kept)
  }

  private func forget(keeping limit: Int) {
    entries.removeFirst(entries.count - limit)
    var remaining: [String] = []
    for index in entries.indices where entries[index].text >= 0 {
      remaining.append(texts[Int(entries[index].text)])
      entries[index].text = Int32(truncatingIfNeeded: remaining.count - 1)
    }
    texts = remaining
  }

  private func line(_ entry: Entry, texts: [String]) -> String {
    let micros = entry.time / 1_000
    let fraction = String(micros % 1_000)
    let padded = String(repeating: "0", count: 3 - fraction.count) + fraction
    let start = "\(micros / 1_000).\(padded) \(entry.kind.name)"
    if let source = entry.source, let destination = entry.destination {
      return "\(start) \(source)>\(destination) \(entry.count) "
        + String(UInt32(truncatingIfNeeded: entry.checksum), radix: 16)
    }
    return "\(start) \(texts[Int(entry.text)])"
  }

  private func mix(_ word: UInt64) { digest = SimulationLog.mix(digest, word) }

  /// One round of multiply and fold: fast, and any changed bit changes the rest of the run's digest.
  @inline(__always)
  private static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
    let product = (state ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.low ^ product.high &+ 0xD6E8_FEB8_6659_FD93
  }

  static func checksum(_ bytes: UnsafeMutableRawBufferPointer, count: Int) -> UInt64 {
    guard let start = bytes.baseAddress else { return 0 }
    var state: UInt64 = 0x2545_F491_4F6C_DD1D ^ UInt64(count)
    var offset = 0
    while offset + 8 <= count {
      state = unsafe mix(state, (start + offset).loadUnaligned(as: UInt64.self).littleEndian)
      offset += 8
    }
    var tail: UInt64 = 0
    while offset < count {
      tail = unsafe tail << 8 | UInt64((start + offset).load(as: UInt8.self))
      offset += 1
    }
    return mix(state, tail)
  }
}
