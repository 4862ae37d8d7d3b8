import SoraCongestion
import SoraMedia
import SoraRTP

/// What came of a published layer: which packets, how many, and at what rate. Plain memory.
struct LayerTraffic {
  struct Statistics {
    var packets: UInt64 = 0
    var bytes: UInt64 = 0
    var nacksSent: UInt64 = 0
    var keyFrameRequests: UInt64 = 0

    mutating func add(_ other: Statistics) {
      packets &+= other.packets
      bytes &+= other.bytes
      nacksSent &+= other.nacksSent
      keyFrameRequests &+= other.keyFrameRequests
    }
  }

  /// Of requests, those that went to sources of before.
  private(set) var statistics = Statistics()
  private var seen = DuplicateFilter()
  private var rates: LayerRates
  private let isSimulcast: Bool

  /// Without simulcast rates are those of the latest second. With it a key frame, as each subscriber that enters the layer asks
  /// for, must not look like a higher rate.
  private static let longMemory = Duration.milliseconds(2500)

  /// Bytes that a packet is longer on the wire than as it is stored, about: SRTP's tag, UDP and IPv4.
  private static let overhead = 16 + 28

  init(isSimulcast: Bool) {
    self.isSimulcast = isSimulcast
    rates = Self.rates(isSimulcast: isSimulcast)
  }

  private static func rates(isSimulcast: Bool) -> LayerRates {
    LayerRates(memory: isSimulcast ? longMemory : .seconds(1), trustsBeginning: isSimulcast)
  }

  /// Another source begins, with numbers of its own.
  ///
  /// - Parameters:
  ///   - nacks: what went to the one of before.
  ///   - keyFrameRequests: likewise.
  mutating func startSource(afterNacks nacks: UInt64, keyFrameRequests: UInt64) {
    statistics.nacksSent &+= nacks
    statistics.keyFrameRequests &+= keyFrameRequests
    seen = DuplicateFilter()
  }

  /// Frames come that didn't: what came before they stopped, and that nothing came since, says nothing of what comes now.
  mutating func restartRates() { rates = Self.rates(isSimulcast: isSimulcast) }

  /// Notes a packet's number.
  ///
  /// - Returns: false where the packet came before, or is so old that nobody can tell.
  mutating func isNew(_ number: UInt16) -> Bool { seen.insert(number) }

  /// Counts a packet.
  ///
  /// - Parameters:
  ///   - size: bytes of all of it, as it is stored.
  ///   - payload: those of its payload.
  ///   - layer: the temporal layer that it is of.
  ///   - now: when it came.
  mutating func count(_ size: Int, payload: Int, layer: UInt8, at now: Instant) {
    statistics.packets &+= 1
    statistics.bytes &+= UInt64(payload)
    rates.add(size + Self.overhead, layer: layer, at: now)
  }

  /// The highest temporal layer that came.
  var highestTemporalLayer: UInt8 { rates.highest }

  /// What the temporal layers up to this one take together at the moment, with all headers.
  mutating func rate(through layer: UInt8, at now: Instant) -> Bitrate {
    rates.rate(through: layer, at: now)
  }
}

/// Remembers which sequence numbers have come, as far back as retransmissions reach.
private struct DuplicateFilter {
  private var extender = SequenceNumberExtender()
  /// The number in each place, extended; numbers collide only when they are too old to be told apart.
  private var slots = [Int64](repeating: .min, count: 2048)

  /// Returns false for a number that was inserted before, or is so old that nobody can tell.
  mutating func insert(_ number: UInt16) -> Bool {
    let sequence = extender.extend(number)
    let slot = Int(sequence & 2047)
    guard slots[slot] < sequence else { return false }
    slots[slot] = sequence
    return true
  }
}
