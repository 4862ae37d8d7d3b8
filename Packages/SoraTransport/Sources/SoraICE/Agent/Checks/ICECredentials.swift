package import SoraMedia

/// The credentials in force, and those before a restart for as long as they are answered (RFC 8445 §8.3, §9).
package struct ICECredentials {
  /// What a request's credentials are worth (RFC 8489 §9.1.3).
  package enum Verdict {
    /// The peer's fragment, which may not be known yet, and the key of an answer.
    case current(ufrag: String, key: [UInt8])
    case previous(key: [UInt8])
    /// A mixture of two generations.
    case mixed
    case refused(ICEDropReason, code: Int, text: String)
  }

  private enum Previous {
    case none
    case answered(Credentials)
    case expiring(Credentials, at: Instant)
  }

  package private(set) var local: ICEParameters
  /// The peer's, once known.
  package private(set) var remote: ICEParameters?
  private var previous = Previous.none

  package init(_ local: ICEParameters) { self.local = local }

  /// What pairs are checked with; nil until the peer's are known.
  package var pair: Credentials? { remote.map { Credentials(local: local, remote: $0) } }

  package mutating func learn(_ remote: ICEParameters) { self.remote = remote }

  /// Replaces our credentials; the peer's are unknown again.
  ///
  /// - Parameters:
  ///   - local: the new ones.
  ///   - used: those of the pair in use, which are answered still: an earlier restart may have come to nothing.
  package mutating func restart(with local: ICEParameters, answering used: Credentials?) {
    previous = used.map { .answered($0) } ?? .none
    self.local = local
    remote = nil
  }

  /// A pair was nominated: §8.3 has a concluded agent answer old checks for three seconds.
  package mutating func conclude(at now: Instant) {
    if case .answered(let old) = previous { previous = .expiring(old, at: now + .seconds(3)) }
  }

  /// When `expire` has something to forget; nil for never.
  package var deadline: Instant? {
    if case .expiring(_, let end) = previous { end } else { nil }
  }

  package mutating func expire(at now: Instant) {
    if let deadline, deadline <= now { previous = .none }
  }

  private var answered: Credentials? {
    switch previous {
    case .none: nil
    case .answered(let old), .expiring(let old, _): old
    }
  }

  /// Whose request it is. The checks are in the order of RFC 8489 §9.1.3.
  package func verdict(on message: STUNMessage, _ bytes: RawSpan) -> Verdict {
    guard let username = message.username, message.hasIntegrity else {
      return .refused(.missingCredentials, code: 400, text: "Bad Request")
    }
    let parts = username.split(
      separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    let ufrag = parts.count == 2 ? String(decoding: parts[1], as: UTF8.self) : ""
    let previous = answered.flatMap { parts[0].elementsEqual($0.local.ufrag.utf8) ? $0 : nil }
    guard parts[0].elementsEqual(local.ufrag.utf8) || previous != nil else {
      return .refused(.unknownUsername, code: 401, text: "Unauthorized")
    }
    let key = Array((previous?.local ?? local).password.utf8)
    guard message.isAuthentic(bytes, key: key) else {
      return .refused(.badIntegrity, code: 401, text: "Unauthorized")
    }
    guard let previous else { return .current(ufrag: ufrag, key: key) }
    // The peer's new generation with our old one: Chromium asks so while it waits for our answer. With a response it would
    // select that pair, and then refuse every check of our new generation from the same address.
    return ufrag == previous.remote.ufrag ? .previous(key: key) : .mixed
  }
}
