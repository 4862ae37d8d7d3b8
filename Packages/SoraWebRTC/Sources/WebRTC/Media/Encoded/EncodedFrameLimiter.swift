package import SoraMedia

/// Keeps what a stream that can't be encoded anew puts before the pacer within bounds.
///
/// A bucket holds what the link has no room for yet. When it fills, frames that no other refers to are left out, and then all up to a
/// key frame that comes when it is nearly empty. It never holds more than `hardLimit` of the target beside one key frame.
package struct EncodedFrameLimiter {
  package enum Admission: Sendable, Equatable {
    case send
    /// Leave this frame out: no other refers to it.
    case skip
    /// Leave it out, and all that follow, until a key frame is sent.
    case hold
  }

  /// Seconds at the target from which on frames are left out that can be.
  private static let softLimit = 0.3
  package static let hardLimit = 0.8
  /// How little has to wait for a stream to go on after a pause, in seconds, and for a key frame to be asked for.
  private static let resumeLimit = 0.4
  private static let askLimit = 0.2
  /// Of a key frame that is let through, seconds at most that it adds to the hard limit.
  private static let longestKeyFrame = 3.0
  /// Seconds at the target that can wait at all: where it falls, the pacer still sends what it has within two, and what a wide link had room
  /// for would hold the stream for minutes.
  private static let longestQueue = 4.0
  /// Headers of packets come on top of frames.
  private static let overhead = 1.05

  /// Bits that wait.
  package private(set) var queued = 0.0
  private var last: Instant?
  private var keyFrameBits = 0.0
  package private(set) var isHolding = false

  package init() {}

  /// Whether a key frame would be let through now.
  package func wantsKeyFrame(target: Int) -> Bool {
    isHolding && queued <= Double(target) * Self.askLimit
  }

  /// Says what becomes of a frame.
  ///
  /// - Parameters:
  ///   - target: bits per second that the link takes.
  package mutating func admit(
    bytes: Int, isKeyFrame: Bool, isReferenced: Bool, target: Int, at now: Instant
  ) -> Admission {
    let rate = Double(max(0, target))
    if let last, now > last {
      let drained = (now - last).inSeconds * rate
      queued = max(0, queued - drained)
      keyFrameBits = max(0, keyFrameBits - drained)
    }
    last = max(now, last ?? now)
    keyFrameBits = min(keyFrameBits, rate * Self.longestKeyFrame)
    queued = min(queued, rate * Self.longestQueue)
    let bits = Double(bytes) * 8 * Self.overhead
    if isKeyFrame {
      guard queued <= rate * (isHolding ? Self.resumeLimit : Self.hardLimit), rate > 0 else {
        isHolding = true
        return .hold
      }
      isHolding = false
      keyFrameBits = min(bits, rate * Self.longestKeyFrame)
    } else if isHolding {
      return .hold
    } else if queued > rate * Self.hardLimit + keyFrameBits {
      isHolding = true
      return .hold
    } else if !isReferenced, queued > rate * Self.softLimit + keyFrameBits {
      return .skip
    }
    queued += bits
    return .send
  }
}
