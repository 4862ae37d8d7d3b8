/// Round trips as timers go by them, in nanoseconds: what is measured or reported beyond these bounds would have them spin, or wait for ever.
enum PlausibleRoundTrip {
  static func bounded(_ nanoseconds: Int64) -> Int64 {
    max(1_000_000, min(nanoseconds, 2_000_000_000))
  }
}
