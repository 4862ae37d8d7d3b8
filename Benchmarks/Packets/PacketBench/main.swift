// What an RTP packet of 1,200 bytes costs to protect, send, receive and unprotect: through `SRTPSession` and a
// `NetworkLoop`, beside a bare C loop of the same cipher and system calls, which knows what has arrived where; and one
// that asks epoll, as whoever has several sockets must. In turns, in one process. Then from one socket to eight others in
// turn, as a server forwards, with and without what is sent being merged by destination. `BENCH_ROUNDS` is 5.
import CPacketLoop
import Foundation
import SoraTransport

struct Case {
  let destinations: Int
  let each: Int
  /// Microseconds a packet, of each repetition.
  var ours: [Double] = []
  var unmerged: [Double] = []
  var bare: [Double] = []
  var waiting: [Double] = []
  var statistics = NetworkStatistics()
  var unmergedStatistics = NetworkStatistics()

  var packets: Int { destinations * each }
}

let batches = 4_000
let size = 1_200

func measure(_ loop: NetworkLoop, _ item: Case) throws -> (Double, NetworkStatistics) {
  let run = try PingPong(
    batches: batches, destinations: item.destinations, each: item.each, size: size)
  loop.execute { try? run.start(on: loop) }
  guard run.done.wait(timeout: .now() + 60) == .success, run.received == batches * item.packets
  else {
    fatalError("packets were lost on loopback: \(run.received) of \(batches * item.packets)")
  }
  return (run.cpuSeconds / Double(batches * item.packets) * 1e6, run.statistics)
}

func measureBare(_ item: Case, waits: Bool) -> Double {
  var result = packet_loop_result()
  guard
    packet_loop_run(
      Int32(batches), Int32(item.destinations), Int32(item.each), Int32(size), waits ? 1 : 0,
      &result) == 0,
    result.received == result.sent
  else { fatalError("the C loop lost packets") }
  return result.cpu_seconds / Double(batches * item.packets) * 1e6
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

guard packet_loop_stay() == 0 else { fatalError("this process can't be kept on one core") }
let loop = try NetworkLoop.make()
var plain = NetworkLoop.Configuration()
plain.segmentationOffload = false
let unmerging = try NetworkLoop.make(configuration: plain)

var single = [1, 8, 32].map { Case(destinations: 1, each: $0) }
var fans = [1, 4, 8].map { Case(destinations: 8, each: $0) }
let rounds = max(1, ProcessInfo.processInfo.environment["BENCH_ROUNDS"].flatMap(Int.init) ?? 5)
for _ in 0..<rounds {
  for index in single.indices {
    single[index].ours.append(try measure(loop, single[index]).0)
    single[index].bare.append(measureBare(single[index], waits: false))
    single[index].waiting.append(measureBare(single[index], waits: true))
  }
  for index in fans.indices {
    let (ours, statistics) = try measure(loop, fans[index])
    let (unmerged, unmergedStatistics) = try measure(unmerging, fans[index])
    fans[index].ours.append(ours)
    fans[index].statistics = statistics
    fans[index].unmerged.append(unmerged)
    fans[index].unmergedStatistics = unmergedStatistics
    fans[index].bare.append(measureBare(fans[index], waits: false))
    fans[index].waiting.append(measureBare(fans[index], waits: true))
  }
}

print(
  "CPU a packet of \(size) bytes, AES-128-GCM, sent and received on loopback (median of \(rounds)):"
)
for item in single {
  let (a, b, c) = (median(item.ours), median(item.bare), median(item.waiting))
  print(
    String(
      format:
        "  batches of %2d: ours %.2f us, C loop %.2f us, ratio %.2f; with epoll %.2f us, ratio %.2f",
      item.each, a, b, a / b, c, a / c))
}
print("From one socket to eight others in turn:")
for item in fans {
  let (a, b, c) = (median(item.ours), median(item.unmerged), median(item.bare))
  let d = median(item.waiting)
  func each(_ count: UInt64, _ statistics: NetworkStatistics) -> Double {
    Double(statistics.datagramsSent) / Double(count)
  }
  print(
    String(
      format: "  %2d packets each: ours %.2f us, unmerged %.2f us, C loop %.2f us, ratio %.2f; "
        + "with epoll %.2f us, ratio %.2f",
      item.each, a, b, c, a / c, d, a / d))
  print(
    String(
      format: "    packets a message %.1f (unmerged %.1f), a system call %.1f (unmerged %.1f)",
      each(item.statistics.messagesSent, item.statistics),
      each(item.unmergedStatistics.messagesSent, item.unmergedStatistics),
      each(item.statistics.sendCalls, item.statistics),
      each(item.unmergedStatistics.sendCalls, item.unmergedStatistics)))
}
