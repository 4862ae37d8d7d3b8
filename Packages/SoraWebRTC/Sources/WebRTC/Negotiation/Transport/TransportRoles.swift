package import SoraSDP

/// Our roles on the one transport: client or server of DTLS (RFC 8842), controlling or controlled in ICE (RFC 8445 §6.1.1).
///
/// The first exchange settles them, and no rollback changes them.
package struct TransportRoles {
  /// Our DTLS role once it is settled: `.active` is the client.
  package private(set) var setup: SDPSetup?
  /// Whether we made the very first offer.
  private var isInitialOfferer: Bool?

  package init() {}

  /// Our DTLS role in an answer (RFC 8842 §5.3). A connection that stands keeps its roles; else `preferred` counts where the offer
  /// leaves the choice.
  package func answer(to offer: SessionDescription, preferred: SDPSetup) throws(NegotiationError)
    -> SDPSetup
  {
    let offered =
      offer.media.first { !$0.isRejected && $0.setup != nil }?.setup ?? offer.setup ?? .actpass
    switch offered {
    case .actpass: return setup ?? (preferred == .passive ? .passive : .active)
    case .active: return .passive
    case .passive: return .active
    case .holdconn: throw .unusableSetup(offered.rawValue)
    }
  }

  /// Our DTLS role where the peer has answered with `setup`, its own (RFC 8842 §5).
  package static func opposite(of setup: SDPSetup) throws(NegotiationError) -> SDPSetup {
    switch setup {
    case .active: return .passive
    case .passive: return .active
    case .actpass, .holdconn: throw .unusableSetup(setup.rawValue)
    }
  }

  /// An exchange is complete; `setup` is nil where it says nothing of it.
  package mutating func settle(setup: SDPSetup?, isOfferer: Bool) {
    self.setup = setup ?? self.setup
    isInitialOfferer = isInitialOfferer ?? isOfferer
  }

  /// Whether we are the controlling agent: a full agent controls a lite one; else the first offerer does (RFC 8445 §6.1.1).
  package func isControlling(isLite: Bool, isPeerLite: Bool) -> Bool {
    isPeerLite == isLite ? isInitialOfferer ?? false : isPeerLite
  }
}
