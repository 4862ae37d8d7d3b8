import SoraSDP

// RTCP that concerns a section as a whole rather than single codecs: `*` stands for the payload type.

/// What a section says of reference times and of feedback by source.
struct SectionFeedback: Hashable {
  /// The writer answers receivers' reference times, and sends them where it sends nothing else: `rtcp-xr:rcvr-rtt=all`
  /// (RFC 3611 §5.1), or libwebrtc's `rtcp-fb:* rrtr`.
  var referenceTimes = false
  /// Feedback by source (RFC 8888 §6): `rtcp-fb:* ack ccfb`.
  var bySource = false

  static let referenceTimesName = "rrtr"

  init(referenceTimes: Bool = false, bySource: Bool = false) {
    self.referenceTimes = referenceTimes
    self.bySource = bySource
  }

  /// What a section says.
  init(_ section: MediaDescription) {
    referenceTimes = section.feedback.contains { $0.kind == Self.referenceTimesName }
    bySource = section.hasFeedbackBySource
    let formats = section.attribute("rtcp-xr")?.split(separator: " ") ?? []
    // The other mode, `sender`, lets only senders have their round trips. A size may follow.
    if formats.contains(where: { $0 == "rcvr-rtt=all" || $0.hasPrefix("rcvr-rtt=all:") }) {
      referenceTimes = true
    }
  }

  func intersection(_ other: SectionFeedback) -> SectionFeedback {
    SectionFeedback(
      referenceTimes: referenceTimes && other.referenceTimes,
      bySource: bySource && other.bySource)
  }

  /// Appends the lines of it, each form that some peers know.
  func write(to section: inout MediaDescription) {
    if referenceTimes {
      section.append(attribute: "rtcp-xr", "rcvr-rtt=all")
      section.append(SDPFeedback(payloadType: nil, kind: Self.referenceTimesName))
    }
    if bySource { section.append(SDPFeedback.bySource) }
  }

  /// A codec's feedback beside this: never two ways of congestion feedback at once.
  func filtered(_ codecs: [SDPCodec]) -> [SDPCodec] {
    guard bySource else { return codecs }
    return codecs.map { codec in
      var codec = codec
      codec.feedback.removeAll { SDPFeedback.replacedBySource.contains($0) }
      return codec
    }
  }
}
