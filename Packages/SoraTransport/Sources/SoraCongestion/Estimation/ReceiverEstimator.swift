public import SoraMedia

/// A receiver's own estimate of the bandwidth towards it, for senders that get no feedback about single packets
/// (draft-alvestrand-rmcat-remb-03).
///
/// With send times the queue on the way is watched as a sender would (draft-ietf-rmcat-gcc-02 §5). Without them nothing is known of the
/// path but what arrives: the estimate then only keeps the sender from growing by more than half beyond that.
///
/// Sans-I/O and confined to its owner. Nothing is allocated per packet.
public struct ReceiverEstimator: Sendable {
  /// Bits of a send time: 6 of seconds, 18 of fractions.
  private static let sendTimeBits: Int64 = 24
  private static let interval: Int64 = 200_000_000
  /// Packets in this time, at least, are what an estimate can be made of.
  private static let patience: Int64 = 1_000_000_000

  private var delay = DelayTrend()
  private var arriving = AcknowledgedRate()
  private var control: RateControl
  private var firstArrival: Int64?
  private var lastUpdate: Int64 = 0
  /// The newest send time, unwrapped, in its own units.
  private var sendTime: Int64?

  /// - Parameters:
  ///   - start: before anything is known.
  ///   - minimum: the estimate never falls below this.
  ///   - maximum: nor rises above this.
  public init(
    start: Bitrate = .megabits(1), minimum: Bitrate = .kilobits(30),
    maximum: Bitrate = .megabits(30)
  ) {
    control = RateControl(
      rate: Double(start.bitsPerSecond),
      bounds: Double(minimum.bitsPerSecond)...Double(maximum.bitsPerSecond), isCautious: false)
  }

  /// What the delay says at the moment; `.normal` without send times.
  public var usage: NetworkUsage { delay.usage }

  /// A packet arrived.
  ///
  /// - Parameters:
  ///   - size: bytes of the packet.
  ///   - absSendTime: 24 bits, seconds modulo 64 in units of 2^-18 seconds; nil where it carries none.
  ///   - roundTrip: to the sender, where it is known.
  ///   - now: the present time.
  /// - Returns: the estimate, where it was made anew.
  public mutating func received(
    size: Int, absSendTime: UInt32?, roundTrip: Duration?, at now: Instant
  ) -> Bitrate? {
    let time = now.nanoseconds
    arriving.add(size: size, arrived: time, isApplicationLimited: false)
    var isOveruseNew = false
    if let absSendTime { isOveruseNew = delay.arrived(sent: extend(absSendTime), at: time) }
    let first = firstArrival ?? time
    firstArrival = first
    guard time &- first >= Self.patience, arriving.estimate != nil,
      isOveruseNew || time &- lastUpdate >= Self.interval
    else { return nil }
    // What came before the first estimate says more than what was assumed.
    if lastUpdate == 0, let estimate = arriving.estimate { control.raise(to: 1.5 * estimate) }
    lastUpdate = time
    control.update(
      delay.usage, acknowledged: arriving.estimate,
      roundTrip: roundTrip?.wholeNanoseconds ?? 100_000_000, at: time)
    return Bitrate(bitsPerSecond: Int(control.rate))
  }

  /// The send time in nanoseconds, never wrapped: the one nearest to the newest.
  private mutating func extend(_ value: UInt32) -> Int64 {
    let range = Int64(1) << Self.sendTimeBits
    var extended = Int64(value)
    if let newest = sendTime {
      var difference = (Int64(value) - newest) & (range - 1)
      if difference >= range / 2 { difference -= range }
      extended = newest + difference
    }
    sendTime = max(sendTime ?? extended, extended)
    return (extended >> 18) &* 1_000_000_000 &+ ((extended & 0x3_FFFF) * 1_000_000_000) >> 18
  }
}
