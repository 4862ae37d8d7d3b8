import SoraWire

/// Makes lost packets of a stream anew from repair packets.
///
/// Memory is bounded, and none is taken before the first repair packet has come. Nothing is allocated per packet then. Confined to its
/// owner.
public final class FECDecoder {
  /// Counters with the names of W3C `RTCInboundRtpStreamStats`.
  public struct Statistics: Sendable, Equatable {
    /// Repair packets that came.
    public var fecPacketsReceived: UInt64 = 0
    /// Bytes of their payloads.
    public var fecBytesReceived: UInt64 = 0
    /// Repair packets that weren't needed, came too late, or couldn't be read.
    public var fecPacketsDiscarded: UInt64 = 0
    /// Packets that were made anew.
    public var packetsRecovered: UInt64 = 0

    public init() {}
  }

  /// Packets that are kept: more than a mask spans, and 0.25 s at 5 Mbit/s.
  private static let window = 256
  private static let maximumRepairs = 64
  private static let slotSize = FECEncoder.maximumPacket

  private struct Repair {
    var header: FECHeader
    var base: Int64
    /// Where its bytes are kept.
    var slot: Int
  }

  public let format: FECFormat
  public private(set) var statistics = Statistics()
  private let ssrc: UInt32
  private var extender = SequenceNumberExtender()
  /// Sequence and bytes of each kept packet, by sequence modulo the window.
  private var packets: [(sequence: Int64, count: Int)] = []
  private var packetBytes: [UInt8] = []
  /// Repair packets that may still be of use, oldest first.
  private var repairs: [Repair] = []
  private var repairBytes: [UInt8] = []
  private var freeSlots: [Int] = []
  /// Packets that were made anew and nobody has taken yet.
  private var recovered: [Int64] = []

  /// - Parameters:
  ///   - format: how repair packets are laid out.
  ///   - ssrc: the stream that is protected.
  public init(format: FECFormat, ssrc: UInt32) {
    self.format = format
    self.ssrc = ssrc
  }

  private var isStarted: Bool { !packets.isEmpty }

  private func start() {
    packets = Array(repeating: (.min, 0), count: Self.window)
    packetBytes = Array(repeating: 0, count: Self.window * Self.slotSize)
    repairBytes = Array(repeating: 0, count: Self.maximumRepairs * Self.slotSize)
    freeSlots = Array(0..<Self.maximumRepairs)
    repairs.reserveCapacity(Self.maximumRepairs)
    recovered.reserveCapacity(Self.maximumRepairs)
  }

  private func index(_ sequence: Int64) -> Int { Int(sequence & Int64(Self.window - 1)) }

  private func isKnown(_ sequence: Int64) -> Bool { packets[index(sequence)].sequence == sequence }

  // MARK: Packets

  /// A packet of the stream came. Look for `nextRecovered` behind it.
  public func received(_ packet: RawSpan, _ protected: FECPacket, number: UInt16) {
    let sequence = extender.extend(number)
    guard isStarted, protected.count <= Self.slotSize, isInWindow(sequence), !isKnown(sequence)
    else { return }
    packetBytes.withMutableRawSpan { span in
      var target = span.part(index(sequence) * Self.slotSize, Self.slotSize)
      protected.write(packet, into: &target)
    }
    packets[index(sequence)] = (sequence, protected.count)
    if !repairs.isEmpty { recover() }
  }

  /// A repair packet came. Look for `nextRecovered` behind it.
  ///
  /// - Returns: whether it could be read.
  @discardableResult
  public func receivedRepair(_ payload: RawSpan) -> Bool {
    statistics.fecPacketsReceived += 1
    statistics.fecBytesReceived += UInt64(payload.byteCount)
    guard let header = try? FECHeader(parsing: payload, format: format),
      header.payloadCount <= Self.slotSize - RTPHeader.fixedCount, header.ssrc ?? ssrc == ssrc,
      extender.highest != nil
    else {
      statistics.fecPacketsDiscarded += 1
      return false
    }
    if !isStarted { start() }
    let base = extender.peek(header.base)
    guard isInWindow(base) else {
      statistics.fecPacketsDiscarded += 1
      return true
    }
    if freeSlots.isEmpty { discardRepair(0) }
    let slot = freeSlots.removeLast()
    repairBytes.withMutableRawSpan { span in
      span.put(
        payload.part(header.payloadOffset, header.payloadCount), at: slot * Self.slotSize)
    }
    repairs.append(Repair(header: header, base: base, slot: slot))
    recover()
    return true
  }

  /// Whether a packet isn't older than what is kept, nor absurdly new.
  private func isInWindow(_ sequence: Int64) -> Bool {
    guard let highest = extender.highest else { return true }
    return sequence > highest - Int64(Self.window) + 128 && sequence <= highest + 128
  }

  private func discardRepair(_ position: Int) {
    statistics.fecPacketsDiscarded += 1
    freeSlots.append(repairs.remove(at: position).slot)
  }

  // MARK: Recovery

  /// Makes anew what can be; each packet may complete what another repair packet needs.
  private func recover() {
    var isProgress = true
    while isProgress {
      isProgress = false
      var position = 0
      while position < repairs.count {
        switch missing(of: repairs[position]) {
        case .none: discardRepair(position)
        case .one(let sequence):
          let repair = repairs.remove(at: position)
          freeSlots.append(repair.slot)
          if rebuild(sequence, by: repair) {
            isProgress = true
          } else {
            statistics.fecPacketsDiscarded += 1
          }
        case .several:
          if isInWindow(repair(position)) { position += 1 } else { discardRepair(position) }
        }
      }
    }
  }

  private func repair(_ position: Int) -> Int64 { repairs[position].base }

  private enum Missing {
    case none
    case one(Int64)
    case several
  }

  private func missing(of repair: Repair) -> Missing {
    var mask = repair.header.mask
    var found: Int64?
    while mask != 0 {
      let sequence = repair.base + Int64(mask.trailingZeroBitCount)
      mask &= mask - 1
      guard !isKnown(sequence) else { continue }
      if found != nil { return .several }
      found = sequence
    }
    return found.map { .one($0) } ?? .none
  }

  /// Makes one packet of a repair packet and all others that it protects. False where the outcome is no packet.
  private func rebuild(_ sequence: Int64, by repair: Repair) -> Bool {
    var fields = repair.header.fields
    var length = repair.header.length
    var timestamp = repair.header.timestamp
    let target = index(sequence) * Self.slotSize
    let payload = target + RTPHeader.fixedCount
    packets[index(sequence)] = (.min, 0)
    packetBytes.withMutableRawSpan { span in
      span.zero(target, Self.slotSize)
      span.put(
        repairBytes.rawSpan.part(repair.slot * Self.slotSize, repair.header.payloadCount),
        at: payload)
      var mask = repair.header.mask
      while mask != 0 {
        let other = repair.base + Int64(mask.trailingZeroBitCount)
        mask &= mask - 1
        guard other != sequence else { continue }
        let start = index(other) * Self.slotSize
        let count = packets[index(other)].count - RTPHeader.fixedCount
        fields ^= span.bytes.u16(start) & 0x3FFF
        timestamp ^= span.bytes.u32(start + 4)
        length ^= UInt16(truncatingIfNeeded: count)
        span.xor(from: start + RTPHeader.fixedCount, to: payload, count)
      }
      span.put16(0x8000 | fields, at: target)
      span.put16(UInt16(truncatingIfNeeded: sequence), at: target + 2)
      span.put32(timestamp, at: target + 4)
      span.put32(ssrc, at: target + 8)
    }
    let count = Int(length) + RTPHeader.fixedCount
    guard Int(length) <= repair.header.payloadCount, count <= Self.slotSize,
      (try? RTPHeader(parsing: packetBytes.rawSpan.part(target, count))) != nil
    else { return false }
    packets[index(sequence)] = (sequence, count)
    recovered.append(sequence)
    statistics.packetsRecovered += 1
    return true
  }

  /// The next packet that was made anew; lent to `body` for the call. False where there is none.
  public func nextRecovered(_ body: (RawSpan) -> Void) -> Bool {
    guard !recovered.isEmpty else { return false }
    let sequence = recovered.removeFirst()
    let (kept, count) = packets[index(sequence)]
    // A reference, not a copy, as long as `body` gives nothing in here.
    let bytes = packetBytes
    if kept == sequence { body(bytes.rawSpan.part(index(sequence) * Self.slotSize, count)) }
    return true
  }
}

extension MutableRawSpan {
  /// XORs `count` bytes from `source` on into those from `target` on, which don't overlap them.
  @_lifetime(self: copy self)
  mutating func xor(from source: Int, to target: Int, _ count: Int) {
    var index = 0
    while index + 8 <= count {
      put64(bytes.u64(target + index) ^ bytes.u64(source + index), at: target + index)
      index += 8
    }
    while index < count {
      put8(bytes.u8(target + index) ^ bytes.u8(source + index), at: target + index)
      index += 1
    }
  }
}
