import SoraRTP
import Synchronization

/// Plays keys of a telephone to the other side of an audio track (W3C webrtc-pc §7), as telephone events (RFC 4733) in the place of its audio.
/// Safe from any thread.
///
/// Whether it can depends on the other side: telephone events are negotiated where its description has them on the clock of the codec
/// that is used. Sora's hasn't; browsers', gateways' and the development server's have.
public final class RTCDtmfSender: Sendable {
  private struct State: Sendable {
    var canInsert = false
    var remaining = ""
    var duration = 0.1
    var gap = 0.07
    var onToneChange: (@Sendable (String) -> Void)?
  }

  /// What W3C allows, in seconds.
  private static let durations = 0.04...6
  private static let gaps = 0.03...6

  private let state = Mutex(State())
  private let play: @Sendable (_ keys: String, _ duration: Duration, _ gap: Duration) -> Void

  /// - Parameter play: carries keys to the connection.
  init(play: @escaping @Sendable (String, Duration, Duration) -> Void) { self.play = play }

  /// Whether the descriptions in force have the track sent, to somebody who takes telephone events.
  public var canInsertDtmf: Bool { state.withLock { $0.canInsert } }

  /// Plays keys, in place of those that haven't begun; one that sounds goes on to its end.
  ///
  /// - Parameters:
  ///   - tones: `0`...`9`, `*`, `#`, `A`...`D` in either case, and `,` for a pause of 2 s. An empty text plays no more.
  ///   - duration: of each key in seconds, 0.04...6; what is beyond counts as the bound.
  ///   - interToneGap: between two of them in seconds, 0.03...6, likewise.
  /// - Returns: false, and nothing happens, where a character is none of these, or `canInsertDtmf` is false.
  @discardableResult
  public func insertDtmf(
    _ tones: String, duration: Double = 0.1, interToneGap: Double = 0.07
  ) -> Bool {
    let keys = tones.uppercased()
    guard keys.allSatisfy({ $0 == "," || TelephoneEvent.code(of: $0) != nil }),
      duration.isFinite, interToneGap.isFinite
    else { return false }
    let duration = min(max(duration, Self.durations.lowerBound), Self.durations.upperBound)
    let gap = min(max(interToneGap, Self.gaps.lowerBound), Self.gaps.upperBound)
    // Under the lock, so that what two threads insert arrives in the order in which it is remembered.
    return state.withLock { state in
      guard state.canInsert else { return false }
      state.remaining = keys
      state.duration = duration
      state.gap = gap
      play(keys, .seconds(duration), .seconds(gap))
      return true
    }
  }

  /// The keys that haven't begun.
  public var remainingTones: String { state.withLock { $0.remaining } }
  /// Of each key in seconds, as it was set last.
  public var duration: Double { state.withLock { $0.duration } }
  /// Between two keys in seconds, as it was set last.
  public var interToneGap: Double { state.withLock { $0.gap } }

  /// Told when a key begins, or a pause (`,`), and with an empty text once all have been played (W3C's `tonechange`). On the queue of the
  /// connection's delegate.
  public var onToneChange: (@Sendable (String) -> Void)? {
    get { state.withLock { $0.onToneChange } }
    set { state.withLock { $0.onToneChange = newValue } }
  }

  /// What the descriptions in force allow.
  func setCanInsert(_ canInsert: Bool) {
    state.withLock {
      $0.canInsert = canInsert
      if !canInsert { $0.remaining = "" }
    }
  }

  /// A key begins.
  func setRemaining(_ remaining: String) { state.withLock { $0.remaining = remaining } }
}
