import SoraRTP

/// A key of a telephone that the other side tells of (RFC 4733).
public struct RTCDtmfEvent: Sendable, Hashable {
  /// The number of the event: 0...15 are the keys.
  public var code: UInt8
  /// `0`...`9`, `*`, `#` or `A`...`D`; nil for another event.
  public var tone: Character?
  /// 0 or less, in dBm0: how loud the tone is meant to be.
  public var volume: Int
  /// Whether the key has been let go; else it has just been pressed.
  public var isEnd: Bool
  /// How long it has been pressed, as far as the other side has told.
  public var duration: Duration

  init(_ change: TelephoneEventReceiver.Change, clockRate: Int) {
    code = change.code
    tone = TelephoneEvent(code: change.code, duration: 0).key
    volume = -Int(change.volume)
    isEnd = change.isEnd
    let rate = UInt64(max(1, clockRate))
    let (seconds, rest) = change.duration.quotientAndRemainder(dividingBy: rate)
    duration = .seconds(Int64(seconds)) + .nanoseconds(Int64(rest * 1_000_000_000 / rate))
  }
}
