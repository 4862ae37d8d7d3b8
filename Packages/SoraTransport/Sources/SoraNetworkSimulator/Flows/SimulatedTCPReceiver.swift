import SoraICE
import SoraMedia
import SoraWire

/// The receiving half of a `SimulatedTCPFlow`: acknowledges every other segment, or after 40 ms, and at once where something is
/// missing or fills a gap (RFC 5681 §4.2), with up to three ranges of what came beyond (RFC 2018).
final class SimulatedTCPReceiver: SimulatedEndpoint {
  private static let delay = Duration.milliseconds(40)

  /// The first segment that hasn't come.
  private(set) var expected: Int64 = 0
  private(set) var wireBytes = 0
  private(set) var nextDeadline: Instant?
  private unowned let network: SimulatedNetwork
  private let local: TransportAddress
  private let remote: TransportAddress
  /// Beyond the first gap, in order, apart from each other.
  private var ranges: [Range<Int64>] = []
  private var unacknowledged = 0

  init(
    _ network: SimulatedNetwork, on local: TransportAddress, to remote: TransportAddress
  ) {
    self.network = network
    self.local = local
    self.remote = remote
  }

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    guard bytes.count >= 8 else { return }
    wireBytes += bytes.count + 28
    let number = unsafe bytes.loadUnaligned(fromByteOffset: 0, as: Int64.self)
    let hadGap = !ranges.isEmpty
    if number == expected {
      expected += 1
      if let next = ranges.first, next.lowerBound == expected {
        expected = next.upperBound
        ranges.removeFirst()
      }
    } else if number > expected {
      insert(number)
    }
    unacknowledged += 1
    if hadGap || !ranges.isEmpty || number < expected - 1 || unacknowledged >= 2 {
      acknowledge(newest: number)
    } else {
      nextDeadline = now + Self.delay
    }
  }

  private func insert(_ number: Int64) {
    guard !ranges.contains(where: { $0.contains(number) }) else { return }
    ranges.append(number..<(number + 1))
    ranges.sort { $0.lowerBound < $1.lowerBound }
    var merged: [Range<Int64>] = []
    for range in ranges {
      if let last = merged.last, last.upperBound == range.lowerBound {
        merged[merged.count - 1] = last.lowerBound..<range.upperBound
      } else {
        merged.append(range)
      }
    }
    ranges = merged
  }

  /// RFC 2018 §4: the range of the newest segment comes first.
  private func acknowledge(newest: Int64) {
    nextDeadline = nil
    unacknowledged = 0
    var numbers = [expected]
    let told =
      ranges.filter { $0.contains(newest) }
      + ranges.reversed().filter { !$0.contains(newest) }
    for range in told.prefix(3) { numbers += [range.lowerBound, range.upperBound] }
    network.send(
      TCPWire.write(numbers, size: TCPWire.acknowledgement), from: local, to: remote)
  }

  func poll(at now: Instant) {
    guard let deadline = nextDeadline, deadline <= now else { return }
    acknowledge(newest: expected - 1)
  }
}
