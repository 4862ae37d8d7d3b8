import SoraMedia
import SoraSCTP
import SoraWire
import Testing

/// A peer by hand: it writes each chunk itself, true or not, and reads what comes back.
final class RawPeer {
  struct Chunk {
    var type: UInt8
    var flags: UInt8
    var value: [UInt8]
  }

  struct Packet {
    var tag: UInt32
    var chunks: [Chunk]
  }

  let association: SCTPAssociation
  var now = Instant(nanoseconds: 5_000_000_000)
  /// The tag that the association wants, the one that it shall use, and its first TSN.
  var theirTag: UInt32 = 0
  let ownTag: UInt32 = 0xABCD_1234
  let firstTSN: UInt32 = 1000
  var theirTSN: UInt32 = 0
  var cookie: [UInt8] = []

  init(_ configuration: SCTPConfiguration = .init(), seed: UInt64 = 9) {
    association = SCTPAssociation(configuration: configuration, random: RandomSource(seed: seed))
  }

  // MARK: - Bytes

  static func chunk(_ type: UInt8, flags: UInt8 = 0, _ value: [UInt8] = []) -> [UInt8] {
    var bytes: [UInt8] = [type, flags]
    bytes.append(bigEndian: UInt16(value.count + 4))
    bytes += value
    while bytes.count % 4 != 0 { bytes.append(0) }
    return bytes
  }

  static func words(_ values: UInt32...) -> [UInt8] {
    values.flatMap { [UInt8](bigEndian: $0) }
  }

  static func halves(_ values: UInt16...) -> [UInt8] {
    values.flatMap { [UInt8](bigEndian: $0) }
  }

  func packet(_ chunks: [UInt8], tag: UInt32? = nil, checksum: UInt32? = nil) -> [UInt8] {
    var bytes = RawPeer.halves(5000, 5000) + RawPeer.words(tag ?? theirTag, 0) + chunks
    let crc = (checksum ?? CRC32C.checksum(bytes.span.bytes)).byteSwapped
    bytes.replaceSubrange(8..<12, with: [UInt8](bigEndian: crc))
    return bytes
  }

  func data(
    _ tsn: UInt32, stream: UInt16 = 0, ssn: UInt16 = 0, flags: UInt8 = 3, _ payload: [UInt8]
  ) -> [UInt8] {
    RawPeer.chunk(
      0, flags: flags,
      RawPeer.words(tsn) + RawPeer.halves(stream, ssn) + RawPeer.words(53) + payload)
  }

  func sack(
    _ cumulative: UInt32, window: UInt32 = 1_000_000, _ blocks: [(UInt16, UInt16)] = []
  ) -> [UInt8] {
    RawPeer.chunk(
      3,
      RawPeer.words(cumulative, window) + RawPeer.halves(UInt16(blocks.count), 0)
        + blocks.flatMap { RawPeer.halves($0.0, $0.1) })
  }

  func initiation(_ type: UInt8 = 1, extensions: [UInt8] = [130, 192], _ more: [UInt8] = [])
    -> [UInt8]
  {
    RawPeer.chunk(
      type,
      RawPeer.words(ownTag, 100_000) + RawPeer.halves(1024, 1024) + RawPeer.words(firstTSN)
        + RawPeer.halves(0x8008, UInt16(4 + extensions.count)) + extensions
        + [UInt8](repeating: 0, count: (4 - extensions.count % 4) % 4)
        + RawPeer.halves(0xC000, 4) + more)
  }

  // MARK: - Talking

  @discardableResult
  func send(_ chunks: [UInt8], tag: UInt32? = nil) -> [Packet] {
    association.receive(packet(chunks, tag: tag).span.bytes, at: now)
    return drain()
  }

  func drain() -> [Packet] {
    var packets: [Packet] = []
    association.drainPackets(at: now) { bytes in
      packets.append(RawPeer.parse(bytes))
      return true
    }
    return packets
  }

  func wait(_ duration: Duration) -> [Packet] {
    let end = now + duration
    var packets: [Packet] = []
    while let due = association.nextDeadline, due <= end {
      now = due
      association.poll(at: now)
      packets += drain()
    }
    now = end
    return packets
  }

  static func parse(_ bytes: RawSpan) -> Packet {
    var reader = ByteReader(bytes)
    _ = reader.skip(4)
    var packet = Packet(tag: reader.u32() ?? 0, chunks: [])
    _ = reader.skip(4)
    while let type = reader.u8(), let flags = reader.u8(), let length = reader.u16(),
      let value = reader.take(Int(length) - 4)
    {
      packet.chunks.append(Chunk(type: type, flags: flags, value: [UInt8](copying: value)))
      _ = reader.skip((4 - Int(length) % 4) % 4)
    }
    return packet
  }

  /// Makes an association, as the one who begins.
  @discardableResult
  func connect(extensions: [UInt8] = [130, 192]) -> Bool {
    guard readInitiationAck(send(initiation(extensions: extensions), tag: 0)) else { return false }
    send(RawPeer.chunk(10, cookie))
    return association.state == .connected
  }

  /// A peer of a new association that may give messages up, with interleaving (RFC 8260) or without.
  static func connected(interleaving: Bool) -> RawPeer {
    var configuration = SCTPConfiguration()
    configuration.interleaving = interleaving
    let peer = RawPeer(configuration)
    #expect(peer.connect(extensions: interleaving ? [130, 192, 64] : [130, 192]))
    _ = peer.events()
    return peer
  }

  /// Takes tag, TSN and cookie of an INIT ACK.
  func readInitiationAck(_ packets: [Packet]) -> Bool {
    guard let chunk = packets.first?.chunks.first, chunk.type == 2, chunk.value.count > 16 else {
      return false
    }
    let bytes = chunk.value.span.bytes
    theirTag = bytes.u32(0)
    theirTSN = bytes.u32(12)
    var reader = ByteReader(bytes)
    _ = reader.skip(16)
    while let type = reader.u16(), let length = reader.u16(),
      let value = reader.take(Int(length) - 4)
    {
      if type == 7 { cookie = [UInt8](copying: value) }
      _ = reader.skip((4 - Int(length) % 4) % 4)
    }
    return !cookie.isEmpty
  }

  func events() -> [SCTPEvent] {
    var all: [SCTPEvent] = []
    while let event = association.nextEvent() { all.append(event) }
    return all
  }

  /// The messages among the events.
  func messages() -> [SCTPMessage] {
    events().compactMap { if case .message(let message) = $0 { message } else { nil } }
  }
}

extension [RawPeer.Packet] {
  var types: [UInt8] { flatMap { $0.chunks.map(\.type) } }
  func chunk(_ type: UInt8) -> RawPeer.Chunk? {
    lazy.flatMap(\.chunks).first { $0.type == type }
  }
}
