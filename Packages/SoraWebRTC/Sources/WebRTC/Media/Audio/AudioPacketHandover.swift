import SoraMedia
import Synchronization

/// Received audio packets in order of arrival, with their payloads in one block of memory that is reused.
struct AudioPacketBatch {
  struct Packet {
    var sequenceNumber: UInt16
    var timestamp: UInt32
    /// The payload type to take out of a redundant payload (RFC 2198); nil if the payload isn't redundant.
    var redundantCodec: UInt8?
    /// When the packet came from the network.
    var arrival: Instant
    fileprivate var range: Range<Int>
  }

  /// Packets and bytes that fit. The bytes hold any datagram, and a second of Opus at its highest rate.
  static let maximumPackets = 256
  static let maximumBytes = 65_536

  private(set) var packets: [Packet] = []
  private var bytes: [UInt8] = []

  init() {
    packets.reserveCapacity(Self.maximumPackets)
    bytes.reserveCapacity(Self.maximumBytes)
  }

  /// Appends a copy of `payload`. False, with nothing appended, if there is no room.
  mutating func append(
    sequenceNumber: UInt16, timestamp: UInt32, redundantCodec: UInt8?,
    payload: UnsafeRawBufferPointer, arrival: Instant
  ) -> Bool {
    guard packets.count < Self.maximumPackets, bytes.count + payload.count <= Self.maximumBytes
    else { return false }
    let start = bytes.count
    unsafe bytes.append(contentsOf: payload)
    packets.append(
      Packet(
        sequenceNumber: sequenceNumber, timestamp: timestamp, redundantCodec: redundantCodec,
        arrival: arrival, range: start..<bytes.count))
    return true
  }

  /// Calls `body` with each packet and its payload, which is valid for the length of the call.
  func forEach(_ body: (Packet, UnsafeRawBufferPointer) -> Void) {
    unsafe bytes.withUnsafeBytes { bytes in
      for packet in packets {
        unsafe body(packet, UnsafeRawBufferPointer(rebasing: bytes[packet.range]))
      }
    }
  }

  /// Forgets the packets and keeps the memory.
  mutating func removeAll() {
    packets.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }
}

/// Takes audio packets from the network loop to the playout queue. Safe from any thread.
///
/// There are two batches: the loop fills one while the playout queue works on the other. The lock is held to copy one
/// payload or to exchange the batches, so the loop never waits for a decoder. Nothing is allocated after `init`.
final class AudioPacketHandover: Sendable {
  private struct Shared {
    var filling = AudioPacketBatch()
    var discarded: UInt64 = 0
  }

  private let shared = Mutex(Shared())

  /// Copies a packet in. If the batch is full, everything in it is discarded first: the playout queue has stood still
  /// for so long that only the newest packets are of use.
  func insert(
    sequenceNumber: UInt16, timestamp: UInt32, redundantCodec: UInt8?,
    payload: UnsafeRawBufferPointer, arrival: Instant
  ) {
    shared.withLock { shared in
      func append() -> Bool {
        unsafe shared.filling.append(
          sequenceNumber: sequenceNumber, timestamp: timestamp, redundantCodec: redundantCodec,
          payload: payload, arrival: arrival)
      }
      if append() { return }
      shared.discarded &+= UInt64(shared.filling.packets.count)
      shared.filling.removeAll()
      // No datagram is larger than an empty batch; what claims to be is discarded with the rest.
      if !append() { shared.discarded &+= 1 }
    }
  }

  /// Exchanges `batch`, whose packets are forgotten, for the packets that came since the last exchange. Returns how many
  /// were discarded so far.
  func exchange(_ batch: inout AudioPacketBatch) -> UInt64 {
    batch.removeAll()
    return shared.withLock { shared in
      swap(&shared.filling, &batch)
      return shared.discarded
    }
  }
}
