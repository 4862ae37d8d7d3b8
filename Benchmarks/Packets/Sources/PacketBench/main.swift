// What an RTP packet of 1,200 bytes costs to protect, send, receive and unprotect: through `SRTPSession` and a
// `NetworkLoop`, beside a bare C loop of the same cipher and system calls. In turns, in one process.
import CPacketLoop
import Foundation
import SoraICE
import SoraMedia
import SoraSRTP
import SoraTransport

/// Sends a batch, and the next one when the whole of it has come back, as the C loop does.
final class PingPong: DatagramHandler, @unchecked Sendable {
  // @unchecked: confined to its loop once it is started; the semaphore hands the result over.
  private let batch: Int
  private let packet: UnsafeMutableRawBufferPointer
  private let sender: SRTPSession
  private let receiver: SRTPSession
  private var sequence: UInt16 = 0
  private var outstanding = 0
  private var remaining: Int
  private var source: UDPSocket?
  private var sink: UDPSocket?
  private var startedAt = 0.0
  private(set) var received = 0
  private(set) var cpuSeconds = 0.0
  let done = DispatchSemaphore(value: 0)

  init(batches: Int, batch: Int, size: Int) throws {
    self.batch = batch
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
    sink = try loop.openUDP(address, handler: self)
    startedAt = packet_loop_thread_cpu()
    sendBatch()
  }

  private func sendBatch() {
    guard remaining > 0, let source, let sink else {
      cpuSeconds = packet_loop_thread_cpu() - startedAt
      source?.close()
      sink?.close()
      done.signal()
      return
    }
    remaining -= 1
    outstanding = batch
    for _ in 0..<batch {
      packet[2] = UInt8(sequence >> 8)
      packet[3] = UInt8(truncatingIfNeeded: sequence)
      sequence &+= 1
      source.send(to: sink.localAddress, capacity: packet.count + 16) { room in
        (try? sender.protectRTP(from: UnsafeRawBufferPointer(packet), into: room)) ?? 0
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

let batches = 4_000
let size = 1_200
let loop = try NetworkLoop.make()
var ours: [Int: [Double]] = [:]
var bare: [Int: [Double]] = [:]
for _ in 0..<5 {
  for batch in [1, 8, 32] {
    let count = Double(batches * batch)
    let run = try PingPong(batches: batches, batch: batch, size: size)
    loop.execute { try? run.start(on: loop) }
    guard run.done.wait(timeout: .now() + 60) == .success, run.received == batches * batch else {
      fatalError("packets were lost on loopback: \(run.received) of \(batches * batch)")
    }
    ours[batch, default: []].append(run.cpuSeconds / count * 1e6)
    var result = packet_loop_result()
    guard packet_loop_run(Int32(batches), Int32(batch), Int32(size), &result) == 0,
      result.received == result.sent
    else { fatalError("the C loop lost packets") }
    bare[batch, default: []].append(result.cpu_seconds / count * 1e6)
  }
}
func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
print("CPU a packet of \(size) bytes, AES-128-GCM, sent and received on loopback (median of 5):")
for batch in [1, 8, 32] {
  let (a, b) = (median(ours[batch] ?? []), median(bare[batch] ?? []))
  print(
    String(format: "  batches of %2d: ours %.2f us, C loop %.2f us, ratio %.2f", batch, a, b, a / b)
  )
}
