import SoraICE
import SoraWire

/// A datagram on its way.
struct DatagramHeader {
  var source: TransportAddress
  var destination: TransportAddress
  var count: Int32
  /// Which free list the slot's memory belongs to.
  var isLarge: Bool
  /// When it entered the queue it is in.
  var queuedAt: Int64
  /// Its place in the order in which it entered its link.
  var linkOrder: UInt64
  /// When it was sent, and by whom to whom before any translator saw it.
  var sentAt: Int64
  var origin: TransportAddress
  var originalDestination: TransportAddress
  /// Hops left, so that a loop of routers ends.
  var hopsLeft: UInt8
  var ecn = ECNCodepoint.notECT

  /// IP and UDP headers: what the wire carries besides the payload.
  var wireBytes: Int { Int(count) + (destination.ip.isV4 ? 28 : 48) }
}

/// Memory for datagrams: slots are handed out and taken back, never freed before the network is.
@safe struct DatagramPool: ~Copyable {
  static let smallCapacity = 2048
  static let largeCapacity = 65_536

  private var headers: UnsafeMutablePointer<DatagramHeader>
  private var memory: UnsafeMutablePointer<UnsafeMutableRawPointer>
  private var freeSmall: [Int32] = []
  private var freeLarge: [Int32] = []
  private var capacity = 256
  private(set) var slots = 0

  init() {
    unsafe headers = .allocate(capacity: capacity)
    unsafe memory = .allocate(capacity: capacity)
  }

  deinit {
    for slot in 0..<slots { unsafe memory[slot].deallocate() }
    unsafe headers.deallocate()
    unsafe memory.deallocate()
  }

  /// Slots in use.
  var inUse: Int { slots - freeSmall.count - freeLarge.count }

  mutating func allocate(
    room: Int, source: TransportAddress, destination: TransportAddress
  ) -> Int32 {
    let isLarge = room > DatagramPool.smallCapacity
    let slot: Int32
    if let free = isLarge ? freeLarge.popLast() : freeSmall.popLast() {
      slot = free
    } else {
      if slots == capacity { grow() }
      slot = Int32(slots)
      unsafe memory[slots] = .allocate(
        byteCount: isLarge ? DatagramPool.largeCapacity : DatagramPool.smallCapacity, alignment: 16)
      slots += 1
    }
    let header = DatagramHeader(
      source: source, destination: destination, count: 0, isLarge: isLarge, queuedAt: 0,
      linkOrder: 0, sentAt: 0, origin: source, originalDestination: destination, hopsLeft: 16)
    unsafe (headers + Int(slot)).initialize(to: header)
    return slot
  }

  mutating func copy(_ slot: Int32) -> Int32 {
    let original = unsafe headers[Int(slot)]
    let twin = allocate(
      room: original.isLarge ? DatagramPool.largeCapacity : Int(original.count),
      source: original.source, destination: original.destination)
    unsafe memory[Int(twin)].copyMemory(from: memory[Int(slot)], byteCount: Int(original.count))
    unsafe headers[Int(twin)] = original
    return twin
  }

  mutating func free(_ slot: Int32) {
    if unsafe headers[Int(slot)].isLarge { freeLarge.append(slot) } else { freeSmall.append(slot) }
  }

  /// The slot's header. The pointer is valid until the next `allocate` or `copy`.
  func header(_ slot: Int32) -> UnsafeMutablePointer<DatagramHeader> { unsafe headers + Int(slot) }

  /// The slot's memory, all of it. Stays where it is while the slot is in use.
  func buffer(_ slot: Int32) -> UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(
      start: memory[Int(slot)],
      count: headers[Int(slot)].isLarge ? DatagramPool.largeCapacity : DatagramPool.smallCapacity)
  }

  /// The datagram's bytes, in the slot's memory.
  func payload(_ slot: Int32) -> UnsafeMutableRawBufferPointer {
    unsafe .init(start: memory[Int(slot)], count: Int(headers[Int(slot)].count))
  }

  private mutating func grow() {
    let moreHeaders = UnsafeMutablePointer<DatagramHeader>.allocate(capacity: capacity * 2)
    let moreMemory = UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(capacity: capacity * 2)
    unsafe moreHeaders.moveInitialize(from: headers, count: slots)
    unsafe moreMemory.moveInitialize(from: memory, count: slots)
    unsafe headers.deallocate()
    unsafe memory.deallocate()
    unsafe headers = unsafe moreHeaders
    unsafe memory = unsafe moreMemory
    capacity *= 2
  }
}
