import SoraMedia

/// Chunks and packets that are rare and wait to leave. A peer that asks for more answers than fit gets fewer.
struct Outbox {
  /// One that goes alone, with a tag of its own.
  struct Packet {
    var tag: UInt32
    var chunks: [UInt8]
  }

  private static let limit = 32
  private var packets = Ring<Packet>()
  private var chunks = Ring<[UInt8]>()

  var nextChunkCount: Int? { chunks.first?.count }

  mutating func append(packet chunks: [UInt8], tag: UInt32) {
    guard packets.count < Outbox.limit else { return }
    packets.append(Packet(tag: tag, chunks: chunks))
  }

  mutating func append(chunk: [UInt8]) {
    guard chunks.count < Outbox.limit else { return }
    chunks.append(chunk)
  }

  mutating func popPacket() -> Packet? { packets.popFirst() }
  mutating func popChunk() -> [UInt8]? { chunks.popFirst() }

  mutating func removeAll() {
    packets.removeAll()
    chunks.removeAll()
  }
}
