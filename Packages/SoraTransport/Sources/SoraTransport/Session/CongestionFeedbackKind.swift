/// How a receiver tells a sender what the network does to its packets. A session uses one way, never two at once.
public enum CongestionFeedbackKind: Sendable, Hashable, CaseIterable {
  /// By transport-wide numbers in a header extension (draft-holmer-rmcat-transport-wide-cc-extensions-01).
  case transportWide
  /// By source and sequence number, with ECN marks (RFC 8888); SDP's `ack ccfb`.
  case bySource
  /// The receiver estimates the bandwidth itself (draft-alvestrand-rmcat-remb-03).
  case receiverEstimate

  /// The most precise of what two ends have agreed on for a section; nil where that is nothing.
  public init?(bySource: Bool, transportWide: Bool, receiverEstimate: Bool) {
    if bySource {
      self = .bySource
    } else if transportWide {
      self = .transportWide
    } else if receiverEstimate {
      self = .receiverEstimate
    } else {
      return nil
    }
  }
}

extension Sequence<CongestionFeedbackKind> {
  /// What a transport uses whose sections have agreed on these: one way, the most precise; nil where there are none.
  public var mostPrecise: CongestionFeedbackKind? {
    CongestionFeedbackKind(
      bySource: contains(.bySource), transportWide: contains(.transportWide),
      receiverEstimate: contains(.receiverEstimate))
  }
}
