/// Where an association stands (RFC 9260 §4), with what belongs to each state.
enum AssociationPhase {
  case idle
  case cookieWait(InitAttempt)
  case cookieEchoed(Peer, CookieEcho)
  case established(Peer)
  case shutdownPending(Peer)
  case shutdownSent(Peer, BackoffTimer)
  case shutdownReceived(Peer)
  case shutdownAckSent(Peer, BackoffTimer)
  case ended

  var peer: Peer? {
    switch self {
    case .idle, .cookieWait, .ended: nil
    case .cookieEchoed(let peer, _), .established(let peer), .shutdownPending(let peer),
      .shutdownSent(let peer, _), .shutdownReceived(let peer), .shutdownAckSent(let peer, _):
      peer
    }
  }

  /// Whether DATA may leave; with COOKIE ECHO, too (RFC 9260 §5.1).
  var mayTransmit: Bool {
    switch self {
    case .cookieEchoed, .established, .shutdownPending, .shutdownReceived: true
    case .idle, .cookieWait, .shutdownSent, .shutdownAckSent, .ended: false
    }
  }
}

/// An INIT that waits for its INIT ACK.
struct InitAttempt {
  var tag: UInt32
  var firstTSN: UInt32
  var chunk: [UInt8]
  var timer = BackoffTimer()
}

/// A COOKIE ECHO that waits for its COOKIE ACK.
struct CookieEcho {
  var firstTSN: UInt32
  var chunk: [UInt8]
  var isDue = true
  var timer = BackoffTimer()
}
