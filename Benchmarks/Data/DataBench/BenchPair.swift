import CPacketLoop
import CSoraMallocCount
import CSoraUsrsctp
import Glibc
import SoraMedia

/// Two ends of one kind, joined by a link in memory. The first one sends.
final class BenchPair<End: BenchEnd> {
  let sender: End
  let receiver: End
  private let forth: BenchLink
  private let back: BenchLink
  private(set) var now = Instant.zero
  /// How many packets an end gets before it sends what it has to say of them.
  private var batch = 1
  /// Where usrsctp's time, which only grows, was at the beginning.
  private let base: Int64

  convenience init(
    _ conditions: BenchLink.Conditions = BenchLink.Conditions(), seed: UInt64 = 1
  ) throws {
    // Acknowledgements have a path of their own, as late, that loses nothing.
    try self.init(
      forth: BenchLink(conditions, seed: seed),
      back: BenchLink(BenchLink.Conditions(delay: conditions.delay), seed: seed), seed: seed)
  }

  init(forth: BenchLink, back: BenchLink, seed: UInt64 = 1) throws {
    base = sora_usrsctp_now()
    sora_usrsctp_seed(seed)
    self.forth = forth
    self.back = back
    sender = try End(forth, seed: seed &+ 2)
    receiver = try End(back, seed: seed &+ 3)
  }

  var packets: Int { forth.packetCount + back.packetCount }

  func connect() throws {
    receiver.listen(at: now)
    sender.connect(at: now)
    for _ in 0..<100_000 where !(sender.isUp && receiver.isUp) { step() }
    guard sender.isUp, receiver.isUp else {
      throw BenchFailure(description: "\(End.self): no association")
    }
  }

  /// Puts the time forward to the next thing that happens, and lets it happen.
  func step(until end: Instant = .distantFuture) {
    exchange()
    var next = min(end, now + .milliseconds(100))
    for moment in [
      forth.nextArrival, back.nextArrival, sender.nextDeadline, receiver.nextDeadline,
    ] {
      if let moment { next = min(next, max(moment, now)) }
    }
    move(to: next, stopsEarly: true)
    exchange()
  }

  private func move(to next: Instant, stopsEarly: Bool) {
    var reached = next
    if sender is UsrsctpBenchEnd {
      repeat {
        // Timers send from within.
        forth.now = next
        back.now = next
        reached = Instant(nanoseconds: sora_usrsctp_run_until(base + next.nanoseconds) - base)
      } while reached < next && !stopsEarly
    }
    now = max(now, reached)
    if let deadline = sender.nextDeadline, deadline <= now { sender.poll(at: now) }
    if let deadline = receiver.nextDeadline, deadline <= now { receiver.poll(at: now) }
  }

  /// Carries what is on the way and has arrived.
  private func exchange() {
    forth.now = now
    back.now = now
    sender.work(at: now)
    deliver(from: forth, to: receiver)
    deliver(from: back, to: sender)
  }

  private func deliver(from link: BenchLink, to end: End) {
    var count = 0
    link.deliver(at: now) { packet in
      end.receive(packet, at: now)
      count += 1
      if count % batch == 0 { end.work(at: now) }
    }
    end.work(at: now)
  }

  struct Work {
    var cpuSeconds: Double
    var packets: Int
    var allocations: Int
    var messages: Int
    var bytes: Int
  }

  /// Sends messages as fast as this thread can, in the time that passes meanwhile, until all have come.
  func pour(_ message: [UInt8], count: Int) throws -> Work {
    // As many as a loop reads from a socket at a time.
    batch = 16
    defer { batch = 1 }
    let start = Self.monotonic()
    let begin = now
    let cpu = packet_loop_thread_cpu()
    let before = (
      packets: packets, allocations: sora_malloc_count(), messages: receiver.receivedMessages,
      bytes: receiver.receivedBytes
    )
    var sent = 0
    while receiver.receivedMessages - before.messages < count {
      move(to: begin + .nanoseconds(Self.monotonic() - start), stopsEarly: false)
      // A part of what fits at a time, so that packets and acknowledgements take turns with it.
      var room = max(1, min(4_096, 262_144 / message.count))
      while sent < count, room > 0, sender.send(message, at: now) {
        sent += 1
        room -= 1
      }
      exchange()
      guard now - begin < .seconds(120) else {
        throw BenchFailure(
          description:
            "\(End.self): \(receiver.receivedMessages - before.messages) of \(count) messages came")
      }
    }
    return Work(
      cpuSeconds: packet_loop_thread_cpu() - cpu, packets: packets - before.packets,
      allocations: Int(sora_malloc_count() - before.allocations),
      messages: receiver.receivedMessages - before.messages,
      bytes: receiver.receivedBytes - before.bytes)
  }

  /// Sends as much as is taken, in virtual time. Gives what arrived after `warmup`, bit/s.
  func flow(_ message: [UInt8], warmup: Duration, measured: Duration) -> Double {
    func run(until end: Instant) {
      while now < end {
        while sender.send(message, at: now) {}
        step(until: end)
      }
    }
    run(until: now + warmup)
    let before = receiver.receivedBytes
    run(until: now + measured)
    return Double(receiver.receivedBytes - before) * 8 / measured.inSeconds
  }

  private static func monotonic() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
