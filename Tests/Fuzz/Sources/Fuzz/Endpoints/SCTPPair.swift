import SoraMedia
import SoraSCTP

/// Two associations of one process and the packets between them, for the fuzz targets: 0 is the one that is under attack.
final class SCTPPair {
  enum Tag { case right, wrong, none, ofPeer }

  /// Small, so that an input meets the limits.
  private static let sendLimit = 64 * 1024
  private static let window = 48 * 1024
  private static let messageLimit = 16 * 1024

  private let ends: [SCTPAssociation]
  private var now = Instant.zero
  /// On the way to each end.
  private var packets: [[[UInt8]]] = [[], []]
  /// Some that have been on the way.
  private var past: [(to: Int, packet: [UInt8])] = []
  /// The tag that each end expects in packets, as its INIT or INIT ACK has told.
  private var tags: [UInt32] = [0, 0]
  private let hasChecksums: Bool
  var readsEvents = true

  /// Whether somebody has written what only an end should: afterwards no message is sure.
  private var isTampered = false
  private var hasEnded = [false, false]
  /// What each end has sent reliably in order, by stream, and how many of it the other has got.
  private var sent: [[UInt16: [UInt32]]] = [[:], [:]]
  private var received: [[UInt16: Int]] = [[:], [:]]
  private var nextID: UInt32 = 1

  init(bits: UInt8) {
    let random = RandomSource(seed: 3)
    hasChecksums = bits & 2 == 0
    ends = (0..<2).map { end in
      var configuration = SCTPConfiguration()
      configuration.interleaving = bits & 1 != 0
      configuration.zeroChecksum = bits & 2 != 0
      configuration.mtu = bits & 4 != 0 ? 576 : 1_184
      configuration.maximumMTU = bits & 8 != 0 ? 1_400 : configuration.mtu
      configuration.partialReliability = bits & 16 == 0
      configuration.scheduler = bits & 32 != 0 ? .roundRobin : .weightedFair
      configuration.outgoingStreams = 16
      configuration.incomingStreams = 16
      configuration.sendBufferLimit = Self.sendLimit
      configuration.receiveWindow = Self.window
      configuration.maximumMessageSize = Self.messageLimit
      return SCTPAssociation(configuration: configuration, random: random.fork())
    }
  }

  // MARK: - Stages

  func start(both: Bool) {
    ends[0].connect(at: now)
    if both { ends[1].connect(at: now) }
    collect()
  }

  /// Brings the end under attack to a point of its life.
  func prepare(stage: Int) {
    if stage == 0 { return }
    start(both: false)
    switch stage {
    case 1: break
    case 2:
      // COOKIE ECHO is sent, and not answered.
      deliverAll(to: 1)
      deliverAll(to: 0)
    default:
      exchange(rounds: 4)
      if stage == 3 { return }
      for index in 0..<2 { send(index, stream: 1, count: 3_000, isOrdered: true, limit: nil) }
      collect()
      if stage == 5 { exchange(rounds: 3) }
      if stage == 6 { try? ends[0].resetStreams([1, 2], at: now) }
      if stage == 7 { ends[0].shutdown(at: now) }
      collect()
    }
  }

  // MARK: - Packets

  /// Chunks in a packet to an end, with the right ports and checksum.
  func packet(of chunks: [UInt8], tag: Tag, to: Int = 0) -> [UInt8] {
    let value: UInt32 =
      switch tag {
      case .right: tags[to]
      case .wrong: tags[to] ^ 0x55
      case .none: 0
      case .ofPeer: tags[1 - to]
      }
    var writer = ScriptWriter()
    writer.number16(5_000)
    writer.number16(5_000)
    writer.number32(value)
    writer.number32(0)
    writer.raw(chunks)
    return Self.withChecksum(writer.bytes)
  }

  func inject(_ packet: [UInt8], to: Int) {
    isTampered = true
    give(packet, to: to)
  }

  /// The next packet on the way to an end.
  func take(to: Int) -> [UInt8]? {
    guard !packets[to].isEmpty else { return nil }
    let packet = packets[to].removeFirst()
    if past.count < 64 { past.append((to, packet)) }
    return packet
  }

  func deliver(to: Int, copies: Int = 1) {
    guard let packet = take(to: to) else { return }
    for _ in 0..<copies { give(packet, to: to) }
  }

  func deliverAll(to: Int) {
    let waiting = packets[to].count
    for _ in 0..<waiting { deliver(to: to) }
  }

  /// The next packet becomes the last.
  func delay(to: Int) {
    guard let packet = take(to: to) else { return }
    packets[to].append(packet)
  }

  /// One of some time ago, once more; or to the end that it came from.
  func replay(_ choice: Int, to: Int) {
    guard !past.isEmpty else { return }
    let old = past[choice % past.count]
    if old.to == to { give(old.packet, to: to) } else { inject(old.packet, to: to) }
  }

  /// A bit error that the checksum finds.
  func damage(to: Int, at position: UInt16, by bits: UInt8) {
    guard var packet = take(to: to), !packet.isEmpty else { return }
    packet[Int(position) % packet.count] ^= bits
    if !hasChecksums, bits != 0 { isTampered = true }
    give(packet, to: to)
  }

  /// A change by somebody who makes the checksum right.
  func change(to: Int, at position: UInt16, by bits: UInt8) {
    guard var packet = take(to: to), !packet.isEmpty else { return }
    packet[Int(position) % packet.count] ^= bits
    inject(Self.withChecksum(packet), to: to)
  }

  func cut(to: Int, at position: UInt16) {
    guard let packet = take(to: to), !packet.isEmpty else { return }
    inject(Self.withChecksum(Array(packet.prefix(Int(position) % packet.count))), to: to)
  }

  func exchange(rounds: Int) {
    for _ in 0..<rounds {
      deliverAll(to: 1)
      deliverAll(to: 0)
    }
  }

  private func give(_ packet: [UInt8], to: Int) {
    lendExactly(packet) { memory in
      ends[to].receive(UnsafeRawBufferPointer(memory).bytes, at: now)
    }
    collect()
  }

  private func collect() {
    for index in 0..<2 {
      var count = 0
      ends[index].drainPackets(at: now) { packet in
        count += 1
        let bytes = packet.withUnsafeBytes { Array($0) }
        check(bytes.count <= 1_400, "a packet of \(bytes.count) bytes")
        noteTag(bytes, of: index)
        // Somebody between two ends can't keep more than this, and an end gives up what doesn't arrive.
        if packets[1 - index].count < 2_000 { packets[1 - index].append(bytes) }
        return true
      }
      check(count < 5_000, "\(count) packets in one go")
      if readsEvents { drainEvents(of: index) }
    }
  }

  /// INIT and INIT ACK come first in their packets, and tell the tag that their sender expects. An association that is there answers
  /// an INIT with a tag for the one that may take its place.
  private func noteTag(_ packet: [UInt8], of index: Int) {
    guard packet.count >= 20, packet[12] == 1 || packet[12] == 2, ends[index].state != .connected
    else { return }
    tags[index] = packet[16..<20].reduce(0) { $0 << 8 | UInt32($1) }
  }

  // MARK: - Time

  func step(_ duration: Duration) {
    let end = now + duration
    var stuck = 0
    for _ in 0..<300 {
      guard let next = earliest(ends[0].nextDeadline, ends[1].nextDeadline), next <= end else {
        break
      }
      stuck = next <= now ? stuck + 1 : 0
      check(stuck < 10, "a deadline at or before now comes again and again: \(next) at \(now)")
      now = max(now, next)
      poll()
    }
    now = end
    poll()
  }

  private func poll() {
    for end in ends {
      end.poll(at: now)
      if let next = end.nextDeadline {
        check(next > now, "after poll at \(now) the next deadline is \(next)")
      }
    }
    collect()
  }

  // MARK: - What the ends' owners do

  /// Something that the owner of an end may do.
  func act(_ index: Int, _ input: inout FuzzInput) {
    switch input.byte() % 8 {
    case 0:
      send(
        index, stream: UInt16(input.byte() % 18), count: Int(input.byte()) * 70,
        isOrdered: true, limit: input.byte() & 1 == 0 ? nil : 0)
    case 1:
      send(
        index, stream: UInt16(input.byte() % 16), count: Int(input.byte()), isOrdered: false,
        limit: UInt16(input.byte() % 4))
    case 2:
      let stream = UInt16(input.byte() % 16)
      // What was counted per stream begins anew, at a moment that this test doesn't follow.
      sent[index][stream] = nil
      isTampered = true
      try? ends[index].resetStreams([stream], at: now)
    case 3: ends[index].shutdown(at: now)
    case 4: if input.byte() % 8 == 0 { ends[index].abort("fuzz", at: now) }
    case 5: ends[index].setPriority(input.number16(), of: UInt16(input.byte()))
    case 6: ends[index].setBufferedAmountLowThreshold(Int(input.number16()), of: 1)
    default: ends[index].connect(at: now)
    }
    collect()
  }

  private func send(_ index: Int, stream: UInt16, count: Int, isOrdered: Bool, limit: UInt16?) {
    let id = nextID
    var options = SCTPSendOptions(isUnordered: !isOrdered)
    options.maximumRetransmissions = limit
    let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: id), count: count)
    guard
      (try? ends[index].send(payload.span.bytes, on: stream, ppid: id, options: options, at: now))
        != nil
    else { return }
    nextID += 1
    // A stream is followed as long as all that was sent there is reliable and ordered.
    if isOrdered, limit == nil { sent[index][stream, default: []].append(id) }
    if !isOrdered || limit != nil { isMixed[index].insert(stream) }
  }

  /// Streams on which not every message is followed.
  private var isMixed: [Set<UInt16>] = [[], []]

  private func drainEvents(of index: Int) {
    var bytes = 0
    while let event = ends[index].nextEvent() {
      check(!hasEnded[index], "\(event) after the end")
      switch event {
      case .message(let message):
        bytes += message.payload.count
        note(message, at: index)
        ends[index].recycle(message.payload)
      case .closed, .aborted: hasEnded[index] = true
      case .restarted: isTampered = true
      default: break
      }
    }
    check(
      bytes <= Self.window + Self.messageLimit + 1_500,
      "\(bytes) bytes of messages were kept in a window of \(Self.window)")
  }

  private func note(_ message: SCTPMessage, at index: Int) {
    check(message.payload.count <= Self.messageLimit, "a message of \(message.payload.count) bytes")
    guard !isTampered, !isMixed[1 - index].contains(message.stream) else { return }
    let count = received[index][message.stream, default: 0]
    let ids = sent[1 - index][message.stream, default: []]
    check(count < ids.count, "message \(message.ppid) of stream \(message.stream) wasn't sent")
    check(ids[count] == message.ppid, "message \(message.ppid) came in place of \(ids[count])")
    check(
      message.payload.allSatisfy { $0 == UInt8(truncatingIfNeeded: message.ppid) },
      "message \(message.ppid) has other bytes")
    received[index][message.stream] = count + 1
  }

  // MARK: - What always holds

  func checkBounds() {
    for end in ends {
      check(
        end.totalBufferedAmount >= 0 && end.totalBufferedAmount <= Self.sendLimit,
        "\(end.totalBufferedAmount) bytes wait to be sent")
      let statistics = end.statistics
      check(
        statistics.receiveWindow >= 0 && statistics.receiveWindow <= Self.window,
        "a window of \(statistics.receiveWindow)")
      check(statistics.bytesInFlight >= 0, "\(statistics.bytesInFlight) bytes are under way")
    }
  }

  func end() {
    readsEvents = true
    step(.seconds(30))
    checkBounds()
  }

  /// Everything goes right from now on: what was sent arrives, unless an end has given up.
  func settle() {
    readsEvents = true
    collect()
    for _ in 0..<200 {
      exchange(rounds: 3)
      step(.milliseconds(500))
      if packets[0].isEmpty, packets[1].isEmpty, ends.allSatisfy({ $0.totalBufferedAmount == 0 }) {
        break
      }
    }
    checkBounds()
    guard !isTampered, hasEnded == [false, false], ends.allSatisfy({ $0.state == .connected })
    else {
      return
    }
    for index in 0..<2 {
      for (stream, ids) in sent[index] where !isMixed[index].contains(stream) {
        let count = received[1 - index][stream, default: 0]
        check(count == ids.count, "\(count) of \(ids.count) messages came on stream \(stream)")
      }
    }
  }

  // MARK: - CRC32c (RFC 9260 appendix A)

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in
      value & 1 != 0 ? value >> 1 ^ 0x82F6_3B78 : value >> 1
    }
  }

  private static func withChecksum(_ packet: [UInt8]) -> [UInt8] {
    guard packet.count >= 12 else { return packet }
    var packet = packet
    for index in 8..<12 { packet[index] = 0 }
    let sum = ~packet.reduce(UInt32.max) {
      $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)]
    }
    for index in 0..<4 { packet[8 + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index))) }
    return packet
  }
}
