import SoraTransport

extension CongestionFeedbackKind {
  /// What is agreed on for a section.
  ///
  /// - Parameters:
  ///   - names: of the feedback that both ends know, of any of its codecs.
  ///   - hasNumbers: whether its packets have transport-wide numbers, without which there is nothing to tell of them.
  ///   - bySource: whether feedback by source is agreed on.
  init?(agreed names: Set<String>, hasNumbers: Bool, bySource: Bool) {
    self.init(
      bySource: bySource, transportWide: hasNumbers && names.contains("transport-cc"),
      receiverEstimate: names.contains("goog-remb"))
  }
}
