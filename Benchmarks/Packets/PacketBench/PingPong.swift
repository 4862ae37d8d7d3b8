import CPacketLoop
import Foundation
import SoraICE
import SoraMedia
import SoraSRTP
import SoraTransport

/// Sends a batch from one socket to others in turn, and the next one when the whole of it has come back, as the C loop
/// does.
final class PingPong: DatagramHandler, @unchecked Sendable {
  // @unchecked: confined to its loop once it is started; the semaphore hands the result over.
  private let each: Int
  private let destinations: Int
  private let packet: UnsafeMutableRawBufferPointer
  private let sender: SRTPSession
  private let receiver: SRTPSession
  private var sequence: UInt16 = 0
  private var outstanding = 0
  private var remaining: Int
  private var source: UDPSocket?
  private var sinks: [UDPSocket] = []
  private var addresses: [TransportAddress] = []
  private var startedAt = 0.0
  private(set) var received = 0
  private(set) var cpuSeconds = 0.0
  /// What the sending socket did.
  private(set) var statistics = NetworkStatistics()
  let done = DispatchSemaphore(value: 0)

  init(batches: Int, destinations: Int, each: Int, size: Int) throws {
    self.each = each
    self.destinations = destinations
    remaining = batches
    packet = .allocate(byteCount: size, alignment: 64)
    packet.initializeMemory(as: UInt8.self, repeating: 0)
    packet[0] = 0x80
    packet[1] = 96
    let one = SRTPKeyingMaterial(
      key: [UInt8](repeating: 1, count: 16), salt: [UInt8](repeating: 2, count: 12))
    sender = try SRTPSession(profile: .aeadAES128GCM, local: one, remote: one)
    receiver = try SRTPSession(profile: .aeadAES128GCM, local: one, remote: one)
  }

  deinit { packet.deallocate() }

  func start(on loop: NetworkLoop) throws {
    let address = TransportAddress(ip: IPAddress("127.0.0.1")!, port: 0)
    source = try loop.openUDP(address, handler: self)
    for _ in 0..<destinations { sinks.append(try loop.openUDP(address, handler: self)) }
    addresses = sinks.map(\.localAddress)
    startedAt = packet_loop_thread_cpu()
    sendBatch()
  }

  private func sendBatch() {
    guard remaining > 0, let source else {
      cpuSeconds = packet_loop_thread_cpu() - startedAt
      statistics = source?.statistics ?? statistics
      source?.close()
      for sink in sinks { sink.close() }
      done.signal()
      return
    }
    remaining -= 1
    outstanding = each * destinations
    for _ in 0..<each {
      for destination in 0..<destinations {
        packet[2] = UInt8(sequence >> 8)
        packet[3] = UInt8(truncatingIfNeeded: sequence)
        packet[11] = UInt8(truncatingIfNeeded: destination)
        sequence &+= 1
        source.send(to: addresses[destination], capacity: packet.count + 16) { room in
          (try? sender.protectRTP(from: UnsafeRawBufferPointer(packet), into: room)) ?? 0
        }
      }
    }
  }

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant
  ) {
    outstanding -= 1
    if (try? receiver.unprotectRTP(bytes, count: bytes.count)) != nil { received += 1 }
  }

  func batchEnded(at now: Instant) {
    if outstanding == 0 { sendBatch() }
  }
}
