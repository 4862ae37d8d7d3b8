import SoraMedia
package import SoraWire

/// A candidate of ours, with what pairing needs.
package struct LocalCandidate {
  package let candidate: ICECandidate
  package let base: ICEBase
  // RFC 8445 §5.1.2.1: the middle 16 bits of the priority.
  let localPreference: UInt32
  /// The STUN or TURN server that it was learnt from.
  let server: IPAddress?

  package init(
    candidate: ICECandidate, base: ICEBase, localPreference: UInt32, server: IPAddress?
  ) {
    self.candidate = candidate
    self.base = base
    self.localPreference = localPreference
    self.server = server
  }

  /// Whether it is its own base.
  var isBase: Bool { candidate.type == .host || candidate.type == .relay }

  /// Whether it forms a pair with a candidate of the peer's (RFC 8445 §6.1.2.2).
  func mayReach(_ remote: RemoteCandidate) -> Bool {
    // §6.1.2.4: a reflexive candidate is replaced by its base, which forms the pair already.
    guard isBase else { return false }
    let (ours, theirs) = (base.address.ip, remote.address.ip)
    // Loopback reaches only loopback; where the peer proves otherwise, its check makes the pair.
    return ours.isV4 == theirs.isV4 && (ours.isLinkLocal == theirs.isLinkLocal || ours.isV4)
      && ours.isLoopback == theirs.isLoopback
  }
}

/// A candidate of the peer's at an address. A class: pairs see a peer-reflexive candidate turn into a signalled one.
package final class RemoteCandidate {
  package internal(set) var candidate: ICECandidate
  package let address: TransportAddress
  /// When a check of the peer's last came from it.
  var lastHeard = Instant.zero

  package init(_ candidate: ICECandidate, address: TransportAddress) {
    self.candidate = candidate
    self.address = address
  }
}

/// The four secrets of one ICE generation. A pair keeps those it was made with, so it stays answerable across a restart.
package struct Credentials: Equatable {
  let local: ICEParameters
  let remote: ICEParameters

  package init(local: ICEParameters, remote: ICEParameters) {
    self.local = local
    self.remote = remote
  }

  /// RFC 8445 §7.2.2: the peer's fragment first.
  var username: [UInt8] { Array("\(remote.ufrag):\(local.ufrag)".utf8) }
  var key: [UInt8] { Array(remote.password.utf8) }
}

/// A base of ours and an address of the peer's, and what is known about the way between them.
package final class CandidatePair {
  package let local: LocalCandidate
  package let remote: RemoteCandidate
  /// Which of its agent's.
  package internal(set) var number = 0
  let meter = ICEPairMeter()
  package private(set) var priority: UInt64 = 0
  package var state = ICEPairState.waiting
  // Controlled: USE-CANDIDATE came before our own check succeeded (RFC 8445 §7.3.1.5).
  var nominateOnSuccess = false
  package var isNominated = false
  var lastUseCandidate: Instant?
  var mappedAddress: TransportAddress?
  // `nil` until the peer's parameters are known; then those of the pair's generation.
  package internal(set) var credentials: Credentials?

  /// What its checks counted and measured.
  var record = ICEPairRecord()

  package init(local: LocalCandidate, remote: RemoteCandidate, isControlling: Bool) {
    self.local = local
    self.remote = remote
    updatePriority(isControlling: isControlling)
  }

  /// RFC 8445 §6.1.2.3.
  func updatePriority(isControlling: Bool) {
    // A signalled priority may be out of range (§5.1.2 ends at 2^31 - 1); such a pair is only worth the maximum.
    let ours = UInt64(min(local.candidate.priority, 0x7FFF_FFFF))
    let theirs = UInt64(min(remote.candidate.priority, 0x7FFF_FFFF))
    let (controlling, controlled) = isControlling ? (ours, theirs) : (theirs, ours)
    priority =
      min(ours, theirs) << 32 + 2 * max(ours, theirs) + (controlling > controlled ? 1 : 0)
  }

  /// RFC 8445 §7.1.1: the priority of a candidate that a check on this pair makes known.
  var reflexivePriority: UInt32 {
    candidatePriority(.prflx, localPreference: local.localPreference)
  }

  /// Whose relay carries what goes over it, as far as consent cares: the peer's is the one we hear nothing of.
  var relaying: ICEConsent.Relaying {
    if remote.candidate.type == .relay { return .peers }
    return local.base.type == .relay ? .ours : .none
  }

  func connects(_ base: TransportAddress, _ address: TransportAddress) -> Bool {
    local.base.address == base && remote.address == address
  }
}

/// RFC 8445 §5.1.2.1, for component 1.
func candidatePriority(_ type: ICECandidateType, localPreference: UInt32) -> UInt32 {
  type.preference << 24 | (localPreference & 0xFFFF) << 8 | 255
}

/// Ranks bases: IPv6 before IPv4 (RFC 8421 §4), what leaves the link before what doesn't, loopback last, earlier added first.
func localPreference(_ ip: IPAddress, index: Int) -> UInt32 {
  let rank: UInt32 =
    if ip.isLoopback { ip.isV6 ? 10_000 : 5_000 } else if ip.isLinkLocal {
      ip.isV6 ? 20_000 : 15_000
    } else { ip.isV6 ? 60_000 : 50_000 }
  return rank - UInt32(min(index, 255))
}
