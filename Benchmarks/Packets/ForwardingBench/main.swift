// What the server needs to forward: one publisher's packets to so many subscribers, through `SFUCore` on a network loop,
// beside a bare C loop that decrypts each packet once and rewrites, encrypts and sends it for each subscriber: as fast as it
// can, and at the publisher's pace with subscribers that wait and report. Then what connections cost that do nothing.
//   FORWARDING_SUBSCRIBERS  how many subscribers there are (10 50 200)
//   FORWARDING_SECONDS      what is measured of each (5)
//   FORWARDING_ROUNDS       how often each is measured, in turns with the C loop (3)
//   FORWARDING_IDLE         connections that do nothing (1000)
import CPacketLoop
import CSoraMallocCount
import Foundation
import SoraMedia
import SoraServer
import SoraTransport

/// The publisher's: about 4 Mbit/s, so that a server's estimate for a subscriber on loopback soon exceeds it.
let packetsPerFrame = 14
let packetSize = 1_200
let frameInterval = Duration.nanoseconds(33_333_333)
/// Time between two reports of a subscriber's: that of the feedback of `BenchClient`.
let reportInterval = Duration.milliseconds(50)
/// Until a server has found out what a subscriber's link takes.
let warmup = Duration.seconds(3)

func number(_ name: String, _ usual: Double) -> Double {
  guard let text = ProcessInfo.processInfo.environment[name] else { return usual }
  guard let value = Double(text), value > 0 else { fail("\(name)=\(text) is no number") }
  return value
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

struct Forwarding {
  /// Microseconds a forwarded packet, of each round.
  var ours: [Double] = []
  var bare: [Double] = []
  var paced: [Double] = []
  var allocations: [Double] = []
  var packetsPerMessage = 0.0
  /// What arrived of what the publisher sent to each, in all rounds.
  var share = 0.0
  /// Packets that found the socket's queue full, in all rounds.
  var queueFull: UInt64 = 0
}

func forward(to subscribers: Int, seconds: Double, rounds: Int) async throws -> Forwarding {
  var result = Forwarding()
  let crowd = try await Crowd()
  let publisher = try await crowd.add(1, .sendonly, channel: { _ in "room" })[0]
  try await crowd.add(subscribers, .recvonly, channel: { _ in "room" })
  await publisher.loop.run {
    publisher.publish(packets: packetsPerFrame, size: packetSize, every: frameInterval)
  }
  try await Task.sleep(for: warmup)
  var (arrived, sent) = (0, 0)
  for _ in 0..<rounds {
    let (before, then) = (await crowd.server.spent(), await crowd.packets())
    try await Task.sleep(for: .seconds(seconds))
    let (spent, now) = (await crowd.server.spent() - before, await crowd.packets())
    let (packets, wanted) = (now.received - then.received, (now.sent - then.sent) * subscribers)
    guard packets > wanted / 100 else {
      fail("\(packets) of \(wanted) packets reached \(subscribers) subscribers")
    }
    // Reports and answers to checks are among them: a few in a thousand.
    let forwarded = Double(spent.statistics.datagramsSent)
    result.ours.append(spent.cpuSeconds / forwarded * 1e6)
    result.allocations.append(Double(spent.allocations) / forwarded)
    result.packetsPerMessage = forwarded / Double(max(1, spent.statistics.messagesSent))
    result.queueFull += spent.statistics.drops.queueFull
    arrived += packets
    sent += wanted
    result.bare.append(bare(to: subscribers))
    result.paced.append(paced(to: subscribers, seconds: min(seconds, 3)))
  }
  await crowd.stop()
  result.share = Double(arrived) / Double(sent)
  return result
}

func bare(to subscribers: Int) -> Double {
  var result = packet_loop_result()
  let bursts = max(1, 100_000 / (packetsPerFrame * subscribers))
  let status = packet_loop_forward(
    Int32(bursts), Int32(subscribers), Int32(packetsPerFrame), Int32(packetSize), &result)
  guard status == 0, result.sent == UInt64(bursts * packetsPerFrame * subscribers) else {
    fail("the C loop failed: \(status)")
  }
  return result.cpu_seconds / Double(result.sent) * 1e6
}

/// The C loop at the publisher's pace, with subscribers that wait and report.
func paced(to subscribers: Int, seconds: Double) -> Double {
  var result = packet_loop_result()
  let bursts = max(1, Int(seconds / frameInterval.inSeconds))
  let status = packet_loop_forward_live(
    Int32(bursts), Int32(subscribers), Int32(packetsPerFrame), Int32(packetSize),
    frameInterval.wholeNanoseconds, reportInterval.wholeNanoseconds, &result)
  guard status == 0 else { fail("the paced C loop failed: \(status)") }
  return result.cpu_seconds / Double(result.sent) * 1e6
}

func idle(_ count: Int, seconds: Double) async throws {
  let crowd = try await Crowd()
  try await crowd.add(count, .recvonly, channel: { "room \($0)" })
  try await Task.sleep(for: .seconds(2))
  let before = await crowd.server.spent()
  try await Task.sleep(for: .seconds(seconds))
  let spent = await crowd.server.spent() - before
  let costs = await crowd.server.callCosts(times: 1000)
  await crowd.reportEnded()
  await crowd.removeClients()
  let with = Int(packet_loop_heap_bytes())
  await crowd.server.stop()
  let without = Int(packet_loop_heap_bytes())
  print(
    String(
      format:
        "%d idle connections: %.1f ms of CPU and %.0f polls a second, %.1f us a nextDeadline, "
        + "%.1f us a poll, %.1f KiB of heap a connection", count, spent.cpuSeconds / seconds * 1000,
      Double(spent.polls) / seconds, costs.deadline, costs.poll,
      Double(with - without) / Double(count) / 1024))
}

var files = rlimit()
getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
files.rlim_cur = files.rlim_max
setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)

let environment = ProcessInfo.processInfo.environment
let sizes = (environment["FORWARDING_SUBSCRIBERS"] ?? "10 50 200").split(separator: " ").compactMap
{ Int($0) }
let seconds = number("FORWARDING_SECONDS", 5)
let rounds = Int(number("FORWARDING_ROUNDS", 3))
print(
  "One publisher, \(packetsPerFrame) packets of \(packetSize) bytes 30 times per second, AES-128-GCM, on loopback "
    + "(median of \(rounds) times \(seconds) s; CPU of the server's thread, and of the C loop's):")
print(
  "| subscribers | ours (us a packet) | C loop | C loop / ours | paced C loop | paced C loop / ours "
    + "| packets per second and core | cost of a packet / first row's | packets a message | mallocs a packet | forwarded | dropped, queue full |"
)
print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
var first: Double?
for subscribers in sizes {
  let result = try await forward(to: subscribers, seconds: seconds, rounds: rounds)
  let (ours, bare, paced) = (median(result.ours), median(result.bare), median(result.paced))
  let mallocs =
    sora_malloc_count_is_on() == 0 ? "-" : String(format: "%.4f", median(result.allocations))
  first = first ?? ours
  print(
    String(
      format: "| %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f | %.2f | %.1f | ", subscribers, ours,
      bare, bare / ours, paced, paced / ours, 1e6 / ours, ours / (first ?? ours),
      result.packetsPerMessage)
      + "\(mallocs) | \(Int(100 * result.share)) % | \(result.queueFull) |")
}
try await idle(Int(number("FORWARDING_IDLE", 1000)), seconds: max(seconds, 5))
