/// Packets that wait to be decoded, in the order of their RTP timestamps. Bounded; reuses its memory.
struct AudioPacketBuffer {
  struct Packet {
    /// Extended beyond 16 bits.
    var sequenceNumber: Int64
    /// Extended beyond 32 bits.
    var timestamp: Int64
    /// Samples of each channel.
    var sampleCount: Int
    /// Nanoseconds of the local clock.
    var arrival: Int64
    fileprivate(set) var size: Int
    fileprivate(set) var slot: Int

    var end: Int64 { timestamp &+ Int64(sampleCount) }
  }

  enum Insertion {
    case stored
    case duplicate
    case full
    case tooLarge
  }

  static let maximumPayload = 1_500

  /// Packets that are kept at most.
  var capacity: Int
  private var packets: [Packet] = []
  /// Slots of `maximumPayload` bytes.
  private var memory: [UInt8] = []
  private var freeSlots: [Int] = []

  /// Room for `capacity` packets. Memory is taken as packets come.
  init(capacity: Int) {
    self.capacity = capacity
    packets.reserveCapacity(capacity)
    freeSlots.reserveCapacity(capacity)
  }

  var count: Int { packets.count }
  var first: Packet? { packets.first }

  /// Lends the payload of a packet that is here, or was until `removeFirst`.
  func withPayload<Result>(_ packet: Packet, _ body: (Span<UInt8>) -> Result) -> Result {
    let start = packet.slot * Self.maximumPayload
    return body(memory.span.extracting(start..<(start + packet.size)))
  }

  mutating func insert(
    sequenceNumber: Int64, timestamp: Int64, sampleCount: Int, arrival: Int64,
    payload: Span<UInt8>
  ) -> Insertion {
    guard payload.count <= Self.maximumPayload, !payload.isEmpty else { return .tooLarge }
    // Nearly every packet is the newest: look from the back.
    var index = packets.count
    while index > 0, packets[index - 1].timestamp > timestamp { index -= 1 }
    if index > 0, packets[index - 1].timestamp == timestamp { return .duplicate }
    guard packets.count < capacity else { return .full }
    let slot: Int
    if let free = freeSlots.popLast() {
      slot = free
    } else {
      slot = memory.count / Self.maximumPayload
      memory.append(contentsOf: repeatElement(0, count: Self.maximumPayload))
    }
    let start = slot * Self.maximumPayload
    var bytes = memory.mutableSpan
    for offset in payload.indices { bytes[start + offset] = payload[offset] }
    packets.insert(
      Packet(
        sequenceNumber: sequenceNumber, timestamp: timestamp, sampleCount: sampleCount,
        arrival: arrival, size: payload.count, slot: slot), at: index)
    return .stored
  }

  /// Takes the first packet off. Its payload stays what it is until the next insertion.
  mutating func removeFirst() {
    let packet = packets.removeFirst()
    freeSlots.append(packet.slot)
  }

  mutating func removeAll() {
    for packet in packets { freeSlots.append(packet.slot) }
    packets.removeAll(keepingCapacity: true)
  }
}
