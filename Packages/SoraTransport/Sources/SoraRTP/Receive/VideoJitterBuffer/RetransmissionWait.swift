import SoraMedia

/// How long waiting for what is missing makes sense, by the round-trip time to the sender, and by how long it took to come. In
/// nanoseconds.
///
/// A server has the round trip to its publisher to go before it can send what it lacks itself; no round trip of the receiver's tells that.
package struct RetransmissionWait: Equatable {
  /// A gap that is closed sooner was one of packets that overtook each other.
  private static let overtaking: Int64 = 30_000_000
  /// What is waited for at most before a key frame is asked for, by what was seen.
  private static let patience: Int64 = 500_000_000

  /// How long missing packets are waited for before a key frame is asked for as well.
  package var untilKeyFrameRequest: Int64 {
    max(
      min(400_000_000, max(100_000_000, 2 * roundTrip + 50_000_000)),
      min(Self.patience, recovery > 0 ? 2 * recovery + 20_000_000 : 0))
  }
  /// How long missing packets are waited for at all.
  package var longest: Int64 {
    max(
      min(600_000_000, max(300_000_000, 4 * roundTrip + 100_000_000)),
      untilKeyFrameRequest + 200_000_000)
  }
  /// How often a request for a key frame is repeated: after about one and a half round trips.
  package var keyFrameRequestInterval: Int64 { max(150_000_000, roundTrip + roundTrip / 2) }

  private var roundTrip: Int64
  /// How long missing packets tend to need until they come: up at once, down slowly.
  private var recovery: Int64 = 0

  package init(roundTrip: Duration) {
    self.roundTrip = PlausibleRoundTrip.bounded(roundTrip.wholeNanoseconds)
  }

  package mutating func setRoundTrip(_ value: Duration) {
    roundTrip = PlausibleRoundTrip.bounded(value.wholeNanoseconds)
  }

  /// What was missing has come, so long after something behind it.
  package mutating func recovered(after time: Int64) {
    guard time >= Self.overtaking else { return }
    recovery = max(min(time, Self.patience), recovery - recovery / 64)
  }
}
