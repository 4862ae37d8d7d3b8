import SoraMedia

/// How long waiting for what is missing makes sense, by the round-trip time to the sender. In nanoseconds.
package struct RetransmissionWait: Equatable {
  /// How long missing packets are waited for before a key frame is asked for as well.
  package let untilKeyFrameRequest: Int64
  /// How long missing packets are waited for at all.
  package let longest: Int64
  /// How often a request for a key frame is repeated: after about one and a half round trips.
  package let keyFrameRequestInterval: Int64

  package init(roundTrip: Duration) {
    let roundTrip = max(1_000_000, min(roundTrip.wholeNanoseconds, 2_000_000_000))
    untilKeyFrameRequest = min(400_000_000, max(100_000_000, 2 * roundTrip + 50_000_000))
    longest = min(600_000_000, max(300_000_000, 4 * roundTrip + 100_000_000))
    keyFrameRequestInterval = max(150_000_000, roundTrip + roundTrip / 2)
  }
}
