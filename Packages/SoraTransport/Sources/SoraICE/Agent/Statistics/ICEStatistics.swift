public import SoraWire

/// Why a datagram or a candidate was left aside.
public enum ICEDropReason: Int, CaseIterable, Hashable, Sendable {
  /// Not a STUN message, or one that breaks the format.
  case malformed
  /// A STUN message with another method than Binding, or an indication of another method.
  case unexpectedMethod
  /// FINGERPRINT doesn't fit the bytes.
  case badFingerprint
  /// A request without USERNAME or MESSAGE-INTEGRITY.
  case missingCredentials
  /// The USERNAME isn't for this session.
  case unknownUsername
  /// MESSAGE-INTEGRITY doesn't fit the password.
  case badIntegrity
  /// A request with attributes that must be understood and aren't; answered with 420.
  case unknownAttribute
  /// A response to nothing that is waited for.
  case unknownTransaction
  /// A response from or to other addresses than its request.
  case asymmetricResponse
  /// An error response that nobody signed, or one without a code.
  case unauthenticatedError
  /// A datagram on an address that isn't a base of this agent.
  case unknownBase
  /// The agent has failed or is closed.
  case inactive
  /// More error responses were due than the agent grants in a time.
  case errorRateLimit
  /// The queue of datagrams to send was full.
  case transmitQueueFull
  /// More than `maxRemoteCandidates`.
  case remoteCandidateLimit
  /// More than `maxPairs`.
  case pairLimit
  /// A candidate that the agent already has.
  case duplicateCandidate
  /// A candidate that isn't used: TCP, another component, port 0, a multicast address.
  case unusableCandidate
  /// A candidate or a check of another ICE generation: its `ufrag` isn't the peer's.
  case staleCandidate

  /// Whether it may be a datagram that was left aside, and not a signalled candidate alone.
  public var concernsDatagrams: Bool { self != .duplicateCandidate && self != .unusableCandidate }
}

/// Counters of an ICE agent. The names are those of W3C's `RTCIceCandidatePairStats`, summed over pairs.
public struct ICEStatistics: Sendable {
  /// Connectivity checks sent, without retransmissions and consent checks.
  public internal(set) var requestsSent = 0
  /// Retransmissions of checks.
  public internal(set) var retransmissionsSent = 0
  /// Authentic Binding requests received.
  public internal(set) var requestsReceived = 0
  /// Success and error responses sent.
  public internal(set) var responsesSent = 0
  /// Authentic success responses received.
  public internal(set) var responsesReceived = 0
  /// Consent checks sent (RFC 7675).
  public internal(set) var consentRequestsSent = 0
  /// Error responses sent, with any code.
  public internal(set) var errorResponsesSent = 0
  /// 487 responses sent or received.
  public internal(set) var roleConflicts = 0
  /// How often the selected pair came, went or gave way to another: also to one of the same addresses, after a restart.
  public internal(set) var selectedCandidatePairChanges = 0
  /// The latest round trip measured on the selected pair.
  public internal(set) var currentRoundTripTime: Duration?
  /// The sum of all round trips measured.
  public internal(set) var totalRoundTripTime = Duration.zero
  /// How many round trips `totalRoundTripTime` sums up.
  public internal(set) var roundTripTimeMeasurements = 0

  private var drops = [Int](repeating: 0, count: ICEDropReason.allCases.count)

  /// How often something was left aside for a reason.
  public func dropped(_ reason: ICEDropReason) -> Int { drops[reason.rawValue] }

  /// The reasons that have occurred, with their counts.
  public var dropsByReason: [(reason: ICEDropReason, count: Int)] {
    ICEDropReason.allCases.compactMap { drops[$0.rawValue] > 0 ? ($0, drops[$0.rawValue]) : nil }
  }

  mutating func drop(_ reason: ICEDropReason) { drops[reason.rawValue] &+= 1 }
}

/// The state of a candidate pair (RFC 8445 §6.1.2.6), with W3C's names.
public enum ICEPairState: String, Sendable {
  /// Not to be checked unless the peer does.
  case frozen
  case waiting
  case inProgress = "in-progress"
  case succeeded
  case failed
}

/// A snapshot of one candidate pair, as `RTCIceCandidatePairStats` has it.
public struct ICEPairStatistics: Sendable {
  /// Of this pair alone, as long as the agent lives.
  public let number: Int
  /// Once a check has been answered, the candidate at the address that the peer sees: of a NAT's, a server-reflexive one of ours or
  /// a peer-reflexive one, which is never signalled (RFC 8445 §7.2.5.3).
  public let local: ICECandidate
  public let remote: ICECandidate
  public let state: ICEPairState
  public let isNominated: Bool
  public let isSelected: Bool
  public let priority: UInt64
  public let requestsSent: Int
  public let requestsReceived: Int
  public let responsesSent: Int
  public let responsesReceived: Int
  public let consentRequestsSent: Int
  public let currentRoundTripTime: Duration?
  public let totalRoundTripTime: Duration
  /// Our address as the peer sees it: behind a NAT it isn't the local candidate's.
  public let mappedAddress: TransportAddress?
  /// DTLS and SRTP that went over it.
  public let traffic: ICEPairTraffic
}
