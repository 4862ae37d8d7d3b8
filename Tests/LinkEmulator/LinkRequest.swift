import SoraMedia
import SoraNetworkSimulator

/// A line of standard input: its `type`, and what goes with it.
enum LinkRequest: Decodable {
  /// Changes the link at once, from the first device to the second and back; told by `set`.
  case set(forward: Conditions, backward: Conditions)
  /// Asks for `statistics`: both directions' counters since the start.
  case statistics

  private enum Name: String, Decodable {
    case set, statistics
  }

  private enum Key: CodingKey {
    case type, forward, backward
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    switch try values.decode(Name.self, forKey: .type) {
    case .set:
      let forward = try values.decode(Conditions.self, forKey: .forward)
      let backward = try values.decodeIfPresent(Conditions.self, forKey: .backward)
      self = .set(forward: forward, backward: backward ?? forward)
    case .statistics: self = .statistics
    }
  }
}

/// One direction's conditions. What isn't given is ideal.
struct Conditions: Decodable {
  struct Bursts: Decodable {
    /// The share of packets that is lost, 0..<1.
    var loss: Double
    /// How many packets in a row are lost, on average; at least 1.
    var length: Double
  }

  var delayMs: Double?
  /// Spread around the delay; packets may overtake each other by it.
  var jitterMs: Double?
  /// The share that is lost, each packet by itself.
  var loss: Double?
  var bursts: Bursts?
  var duplication: Double?
  var kbps: Double?
  /// How long a packet may wait for its turn at the rate before the queue is full; 300 ms.
  var queueMs: Double?
  /// The largest IP packet that passes. Larger ones vanish without a word.
  var mtu: Int?
  var isUp: Bool?

  func link() -> LinkConditions {
    LinkConditions(
      delay: .milliseconds(delayMs ?? 0), jitter: .milliseconds(jitterMs ?? 0),
      jitterReorders: true, loss: loss ?? 0, burstLoss: bursts.flatMap(\.channel),
      duplication: duplication ?? 0, bitsPerSecond: kbps.map { Int($0 * 1_000) },
      queue: .time(.milliseconds(queueMs ?? 300)), maximumPayload: mtu ?? Emulation.capacity,
      isUp: isUp ?? true)
  }
}

extension Conditions.Bursts {
  /// The channel that loses so much over a long time.
  fileprivate var channel: GilbertElliott? {
    guard loss > 0, loss < 1, length >= 1 else { return nil }
    return GilbertElliott(
      goodToBad: min(1, loss / (length * (1 - loss))), badToGood: 1 / length)
  }
}

extension LinkStatistics {
  /// As `JSONSerialization` takes it.
  var json: [String: Any] {
    [
      "sent": sentPackets, "delivered": deliveredPackets, "sentBytes": sentBytes,
      "deliveredBytes": deliveredBytes,
      "lostAtRandom": lostAtRandom, "lostInBursts": lostInBursts, "droppedByQueue": droppedByQueue,
      "droppedWhileDown": droppedWhileDown, "droppedTooLarge": droppedTooLarge,
      "longestQueueMs": Int(longestQueueTime / .milliseconds(1)), "duplicated": duplicated,
      "arrivedOutOfOrder": arrivedOutOfOrder,
    ]
  }
}
