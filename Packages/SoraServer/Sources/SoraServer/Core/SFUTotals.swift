/// What a server has done since it began, whether the connections are still there or not. Nothing here ever falls.
public struct SFUTotals: Sendable, Hashable {
  /// Connections that could carry media.
  public var connections: UInt64 = 0
  /// Clients that were turned away before.
  public var refusals: UInt64 = 0
  /// Datagrams of connections, and their bytes.
  public var packetsReceived: UInt64 = 0
  public var packetsSent: UInt64 = 0
  public var bytesReceived: UInt64 = 0
  public var bytesSent: UInt64 = 0
  public var dropped = SFUDropped()

  public init() {}
}

extension SFUDropped {
  /// Each of the counts, with its name as metrics have it.
  public static let reasons:
    [(name: String, count: any WritableKeyPath<SFUDropped, Int> & Sendable)] =
      [
        ("unknown_protocol", \.unknownProtocol), ("malformed_stun", \.malformedSTUN),
        ("unknown_user", \.unknownUser), ("unknown_address", \.unknownAddress),
        ("malformed_rtp", \.malformedRTP), ("malformed_rtcp", \.malformedRTCP),
        ("unknown_source", \.unknownSource), ("retired_source", \.retiredSource),
        ("too_many_sources", \.tooManySources), ("empty_retransmission", \.emptyRetransmission),
        ("duplicate", \.duplicate), ("unknown_rtcp", \.unknownRTCP),
        ("request_of_unknown_source", \.requestOfUnknownSource),
        ("retransmission_budget", \.retransmissionBudget), ("pacer_full", \.pacerFull),
        ("unexpected_message", \.unexpectedMessage), ("unknown_key", \.unknownKey),
        ("malformed_candidate", \.malformedCandidate),
        ("too_many_candidates", \.tooManyCandidates),
        ("malformed_data_message", \.malformedDataMessage),
        ("data_channel_full", \.dataChannelFull), ("call_budget", \.callBudget),
        ("statistics_too_large", \.statisticsTooLarge),
        ("too_many_sections", \.tooManySections),
      ]

  static func += (sum: inout SFUDropped, other: SFUDropped) {
    for (_, count) in reasons { sum[keyPath: count] += other[keyPath: count] }
  }
}
