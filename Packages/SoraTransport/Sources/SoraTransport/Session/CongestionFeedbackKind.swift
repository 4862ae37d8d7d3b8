/// How a receiver tells a sender what the network does to its packets. A session uses one way, never two at once.
public enum CongestionFeedbackKind: Sendable, Hashable, CaseIterable {
  /// By transport-wide numbers in a header extension (draft-holmer-rmcat-transport-wide-cc-extensions-01).
  case transportWide
  /// By source and sequence number, with ECN marks (RFC 8888); SDP's `ack ccfb`.
  case bySource
  /// The receiver estimates the bandwidth itself (draft-alvestrand-rmcat-remb-03).
  case receiverEstimate
}
