// What two SCTP associations of one process can carry over a link in memory, without encryption: this project's own beside
// usrsctp's, in turns, on one thread. `BENCH_ROUNDS` is 5; `DATA_MEGABYTES` is 256, what is sent to measure once;
// `DATA_SECONDS` is 10, of virtual time.
import CPacketLoop
import CSoraUsrsctp
import Foundation
import SoraMedia

func setting(_ name: String, _ standard: Int) -> Int {
  max(1, ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? standard)
}

let rounds = setting("BENCH_ROUNDS", 5)
let megabytes = setting("DATA_MEGABYTES", 256)
let seconds = setting("DATA_SECONDS", 10)

guard sora_usrsctp_load() != 0 else {
  print("needs Debian's libusrsctp-dev, which is loaded at run time")
  exit(1)
}
guard packet_loop_stay() == 0 else { fatalError("this process can't be kept on one core") }

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// One line: medians of both, their ratio, and between which it lay.
struct Row {
  var name: String
  var unit: String
  var ours: [Double] = []
  var theirs: [Double] = []

  func print() {
    let ratios = zip(ours, theirs).map { $0 / $1 }.filter(\.isFinite).sorted()
    let label = name + String(repeating: " ", count: max(0, 52 - name.count))
    let format = median(ours) < 100 ? "%10.2f" : "%10.0f"
    Swift.print(
      "  " + label + String(format: format, median(ours)) + String(format: format, median(theirs))
        + " " + unit + String(repeating: " ", count: max(0, 12 - unit.count))
        + (ratios.isEmpty
          ? "" : String(format: "%7.2f  (%.2f-%.2f)", median(ratios), ratios.first!, ratios.last!)))
  }
}

func message(_ size: Int) -> [UInt8] { RandomSource(seed: UInt64(size)).bytes(size) }

struct Poured {
  var megabitsPerSecond: Double
  var messagesPerSecond: Double
  var allocationsPerPacket: Double
}

func pour<End: BenchEnd>(_: End.Type, size: Int, count: Int) throws -> Poured {
  let pair = try BenchPair<End>()
  try pair.connect()
  let content = message(size)
  // Windows and pools grow first.
  _ = try pair.pour(content, count: max(1, count / 8))
  let work = try pair.pour(content, count: count)
  return Poured(
    megabitsPerSecond: Double(work.bytes) * 8 / work.cpuSeconds / 1e6,
    messagesPerSecond: Double(work.messages) / work.cpuSeconds,
    allocationsPerPacket: Double(work.allocations) / Double(work.packets))
}

func flow<End: BenchEnd>(_: End.Type, _ conditions: BenchLink.Conditions, seed: UInt64) throws
  -> Double
{
  let pair = try BenchPair<End>(conditions, seed: seed)
  try pair.connect()
  return pair.flow(message(16_384), warmup: .seconds(3), measured: .seconds(seconds)) / 1e6
}

struct Held {
  var kilobytes: Double
  var microseconds: Double
}

/// What an idle association holds, and the processor's time until two are connected.
func crowd<End: BenchEnd>(_: End.Type, count: Int) throws -> Held {
  // Made before, so that they don't count.
  let links = (0..<2 * count).map { BenchLink(BenchLink.Conditions(), seed: UInt64($0)) }
  var pairs: [BenchPair<End>] = []
  pairs.reserveCapacity(count)
  let before = packet_loop_heap_bytes()
  let cpu = packet_loop_thread_cpu()
  for index in 0..<count {
    let pair = try BenchPair<End>(forth: links[2 * index], back: links[2 * index + 1])
    try pair.connect()
    pairs.append(pair)
  }
  let microseconds = (packet_loop_thread_cpu() - cpu) * 1e6 / Double(count)
  let after = packet_loop_heap_bytes()
  return withExtendedLifetime((pairs, links)) {
    Held(
      kilobytes: (Double(after) - Double(before)) / Double(2 * count) / 1_024,
      microseconds: microseconds)
  }
}

let sizes = [
  (name: "64 KiB", size: 65_536, count: max(8, megabytes << 20 / 65_536)),
  (name: "1,000 B", size: 1_000, count: max(1_000, megabytes << 20 / 4_000)),
  (name: "32 B", size: 32, count: max(10_000, megabytes << 20 / 512)),
]
var goodput = sizes.map { Row(name: "goodput a core, messages of \($0.name)", unit: "Mbit/s") }
var rate = Row(name: "messages of 32 B a second and core", unit: "1,000/s")
var allocations = sizes.map { Row(name: "allocations a packet, messages of \($0.name)", unit: "") }

// The delay is one way's.
var fast = BenchLink.Conditions(delay: .milliseconds(30))
var narrow = BenchLink.Conditions(
  delay: .milliseconds(30), bitsPerSecond: 18e6, queue: 18_000_000 / 8 / 10)
var lossy = BenchLink.Conditions(delay: .milliseconds(30), loss: 0.01)
let paths = [
  ("goodput over 30 ms each way, no other limit", fast),
  ("  through 18 Mbit/s with a queue of 100 ms", narrow),
  ("  with 1 % loss", lossy),
]
var overPath = paths.map { Row(name: $0.0, unit: "Mbit/s") }
var memory = Row(name: "memory of an idle association", unit: "KB")
var opening = Row(name: "CPU until two are connected", unit: "us")

let crowdCount = min(500, 2 * megabytes)
for round in 0..<rounds {
  for (index, item) in sizes.enumerated() {
    let ours = try pour(OwnBenchEnd.self, size: item.size, count: item.count)
    let theirs = try pour(UsrsctpBenchEnd.self, size: item.size, count: item.count)
    goodput[index].ours.append(ours.megabitsPerSecond)
    goodput[index].theirs.append(theirs.megabitsPerSecond)
    allocations[index].ours.append(ours.allocationsPerPacket)
    allocations[index].theirs.append(theirs.allocationsPerPacket)
    if item.size == 32 {
      rate.ours.append(ours.messagesPerSecond / 1_000)
      rate.theirs.append(theirs.messagesPerSecond / 1_000)
    }
  }
  for (index, path) in paths.enumerated() {
    let seed = UInt64(round + 1)
    overPath[index].ours.append(try flow(OwnBenchEnd.self, path.1, seed: seed))
    overPath[index].theirs.append(try flow(UsrsctpBenchEnd.self, path.1, seed: seed))
  }
  let ours = try crowd(OwnBenchEnd.self, count: crowdCount)
  let theirs = try crowd(UsrsctpBenchEnd.self, count: crowdCount)
  memory.ours.append(ours.kilobytes)
  memory.theirs.append(theirs.kilobytes)
  opening.ours.append(ours.microseconds)
  opening.theirs.append(theirs.microseconds)
}

print(
  "Two SCTP associations in one process, no encryption, packets of \(BenchLimits.mtu) bytes (medians of \(rounds)):"
)
print("  " + String(repeating: " ", count: 52) + "      ours   usrsctp              ours/usrsctp")
for row in goodput + [rate] + overPath + [memory, opening] + allocations { row.print() }
