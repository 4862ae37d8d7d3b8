import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraWire

/// Keeps what arrives: times and the number in the first eight bytes.
final class Counter: SimulatedEndpoint {
  var numbers: [UInt64] = []
  var times: [Instant] = []
  var sources: [TransportAddress] = []
  var ecns: [ECNCodepoint: Int] = [:]
  var onReceive: ((UInt64, TransportAddress, TransportAddress) -> Void)?
  var deadlines: [Instant] = []
  var polls: [Instant] = []

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    let number = bytes.count >= 8 ? bytes.loadUnaligned(as: UInt64.self) : 0
    numbers.append(number)
    times.append(now)
    sources.append(source)
    ecns[ecn, default: 0] += 1
    onReceive?(number, source, local)
  }

  func poll(at now: Instant) {
    polls.append(now)
    deadlines.removeAll { $0 <= now }
  }

  var nextDeadline: Instant? { deadlines.min() }
}

/// Two hosts with a link between them and a counter on each.
final class Pair {
  let network: SimulatedNetwork
  let link: SimulatedLink
  let rightHost: SimulatedHost
  let left = Counter()
  let right = Counter()
  let leftAddress = TransportAddress(ip: IPAddress("10.0.0.1")!, port: 1000)
  let rightAddress = TransportAddress(ip: IPAddress("10.0.0.2")!, port: 2000)

  init(
    seed: UInt64 = 1, _ conditions: LinkConditions = .ideal,
    retention: SimulationLog.Retention = .digestOnly
  ) {
    network = SimulatedNetwork(seed: seed, retention: retention)
    let a = network.addHost("left", "10.0.0.1")
    let b = network.addHost("right", "10.0.0.2")
    rightHost = b
    link = network.link(a, b, conditions)
    network.bind(left, to: leftAddress)
    network.bind(right, to: rightAddress)
  }

  func send(_ number: UInt64, size: Int = 100, ecn: ECNCodepoint = .notECT) {
    network.send(from: leftAddress, to: rightAddress, ecn: ecn, capacity: size) { memory in
      memory.storeBytes(of: number, as: UInt64.self)
      return size
    }
  }

  /// Sends `count` datagrams, one each `interval`, and runs until a second after the last.
  func stream(
    _ count: Int, every interval: Duration, size: Int = 100, ecn: ECNCodepoint = .notECT
  ) {
    var next: UInt64 = 0
    let callback = network.every(interval) { [unowned self] _ in
      if next < UInt64(count) {
        send(next, size: size, ecn: ecn)
        next += 1
      }
    }
    network.run(for: interval * count + .seconds(1))
    network.cancel(callback)
  }
}
