import Glibc
import SoraClock
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraWire

/// Carries IP packets between two devices through a link of the network simulator, which here follows the machine's clock.
///
/// To the link each packet is the payload of a datagram, so that against the rate 28 bytes more count for each, as in a tunnel
/// over UDP.
final class Emulation {
  /// More than any device's packets have.
  static let capacity = 2048
  /// Packets that one device gets before the other has its turn.
  private static let burst = 32

  private let network: SimulatedNetwork
  private let link: SimulatedLink
  private let ends: [Device]
  private let start = SystemClock.now

  /// - Parameter devices: descriptors that give and take a packet a call and don't block.
  init(devices: (Int32, Int32), seed: UInt64) {
    network = SimulatedNetwork(seed: seed, retention: .latest(0))
    let hosts = [network.addHost("a", "192.0.2.1"), network.addHost("b", "192.0.2.2")]
    link = network.link(hosts[0], hosts[1])
    ends = zip([devices.0, devices.1], hosts).map { descriptor, host in
      Device(descriptor, TransportAddress(ip: host.addresses[0], port: 1))
    }
    for end in ends { network.bind(end, to: end.address) }
  }

  /// Carries until standard input ends, and gives its lines to `perform`.
  func run(_ perform: (String) -> Void) {
    var input = LineReader()
    var waiting = (ends.map(\.descriptor) + [STDIN_FILENO]).map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    while !input.hasEnded {
      advance()
      wait(&waiting)
      // What is due leaves before what has come joins.
      advance()
      for (index, end) in ends.enumerated() where waiting[index].revents != 0 {
        take(from: end, to: ends[1 - index])
      }
      if waiting[2].revents != 0 { input.read(perform) }
    }
  }

  func set(forward: LinkConditions, backward: LinkConditions) {
    advance()
    link.forwardConditions = forward
    link.backwardConditions = backward
  }

  var statistics: (forward: LinkStatistics, backward: LinkStatistics) {
    (link.forwardStatistics, link.backwardStatistics)
  }

  private func advance() { network.run(until: .zero + (SystemClock.now - start)) }

  /// Until a packet or a line has come, or something is due, which leaves at most a millisecond late.
  private func wait(_ waiting: inout [pollfd]) {
    var milliseconds: Int32 = -1
    if let next = network.nextEvent {
      let nanoseconds = (next - .zero - (SystemClock.now - start)).wholeNanoseconds
      milliseconds = Int32(clamping: max(0, nanoseconds + 999_999) / 1_000_000)
    }
    _ = poll(&waiting, nfds_t(waiting.count), milliseconds)
  }

  private func take(from end: Device, to other: Device) {
    for _ in 0..<Emulation.burst {
      var count = 0
      network.send(from: end.address, to: other.address, capacity: Emulation.capacity) { memory in
        count = Glibc.read(end.descriptor, memory.baseAddress, memory.count)
        return count
      }
      if count <= 0 { return }
    }
  }
}

/// Where packets come from and go to.
private final class Device: SimulatedEndpoint {
  let descriptor: Int32
  let address: TransportAddress
  let nextDeadline: Instant? = nil

  init(_ descriptor: Int32, _ address: TransportAddress) {
    self.descriptor = descriptor
    self.address = address
  }

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from _: TransportAddress, on _: TransportAddress,
    ecn _: ECNCodepoint, at _: Instant
  ) {
    // A device that takes no more drops, as a host's own queue does.
    _ = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
  }

  func poll(at _: Instant) {}
}

/// Lines of standard input, read only when there is something, so that nothing waits for them.
private struct LineReader {
  private(set) var hasEnded = false
  private var bytes: [UInt8] = []

  mutating func read(_ perform: (String) -> Void) {
    let more = [UInt8](unsafeUninitializedCapacity: 4096) { memory, count in
      count = max(0, Glibc.read(STDIN_FILENO, memory.baseAddress, memory.count))
    }
    hasEnded = more.isEmpty
    bytes += more
    while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      perform(String(decoding: bytes[..<end], as: UTF8.self))
      bytes.removeSubrange(...end)
    }
  }
}
