public import SoraMedia

/// One media section: its `m=` line and the lines that follow it, in order.
public struct MediaDescription: Sendable, Hashable, SDPAttributeContainer {
  /// `audio`, `video`, `application`, or anything else.
  public var kind: String
  /// 0 means rejected or stopped, or bundled with ``isBundleOnly``; 9 is customary where ICE decides.
  public var port: UInt16
  /// The number of ports after a slash; nil where it isn't written.
  public var portCount: Int?
  /// For example `UDP/TLS/RTP/SAVPF`.
  public var proto: String
  /// Payload types, or `webrtc-datachannel`.
  public var formats: [String]
  /// The lines after the `m=` line.
  public var lines: [SDPLine]

  public init(
    kind: String, port: UInt16 = 9, proto: String = "UDP/TLS/RTP/SAVPF", formats: [String],
    lines: [SDPLine] = []
  ) {
    self.kind = kind
    self.port = port
    self.proto = proto
    self.formats = formats
    self.lines = lines
  }

  /// Reads what follows `m=` (RFC 8866 §5.14).
  init?(mediaLine: String) {
    let words = SDPText.words(mediaLine)
    guard words.count >= 4 else { return nil }
    let ports = SDPText.split(words[1], on: "/", maximum: 1)
    guard let port: UInt16 = SDPText.decimal(ports[0]) else { return nil }
    if ports.count == 2 {
      guard let count: UInt16 = SDPText.decimal(ports[1]) else { return nil }
      portCount = Int(count)
    }
    kind = String(words[0])
    self.port = port
    proto = String(words[2])
    formats = words[3...].map(String.init)
    lines = []
  }

  func write(to output: inout [UInt8]) {
    output += "m=".utf8
    SDPLine.append(kind, to: &output)
    output += " \(port)".utf8
    if let portCount { output += "/\(portCount)".utf8 }
    output += " ".utf8
    SDPLine.append(proto, to: &output)
    for format in formats {
      output += " ".utf8
      SDPLine.append(format, to: &output)
    }
    output += "\r\n".utf8
    for line in lines {
      line.write(to: &output)
      output += "\r\n".utf8
    }
  }
}

extension MediaDescription {
  /// Audio or video; nil for other kinds.
  public var mediaKind: MediaKind? { MediaKind(rawValue: kind) }

  /// `a=mid` (RFC 5888 §4).
  public var mid: String? {
    get { attribute("mid").flatMap { $0.isEmpty ? nil : $0 } }
    set { setAttribute("mid", newValue) }
  }

  /// The direction; `sendrecv` where none is written (RFC 8866 §6.7).
  public var direction: MediaDirection {
    get { explicitDirection ?? .sendrecv }
    set {
      let isDirection = { (line: SDPLine) in
        line.isAttribute && line.value == nil && MediaDirection(rawValue: line.name) != nil
      }
      let old = lines.firstIndex(where: isDirection) ?? lines.count
      lines.removeAll(where: isDirection)
      lines.insert(SDPLine(attribute: newValue.rawValue), at: min(old, lines.count))
    }
  }

  /// `a=rtcp-mux` (RFC 5761).
  public var rtcpMux: Bool {
    get { hasFlag("rtcp-mux") }
    set { setFlag("rtcp-mux", newValue) }
  }

  /// `a=rtcp-rsize` (RFC 5506).
  public var rtcpReducedSize: Bool {
    get { hasFlag("rtcp-rsize") }
    set { setFlag("rtcp-rsize", newValue) }
  }

  /// `a=bundle-only` (RFC 9143 §6).
  public var isBundleOnly: Bool {
    get { hasFlag("bundle-only") }
    set { setFlag("bundle-only", newValue) }
  }

  /// Codec names and clocks.
  public var rtpMaps: [SDPRTPMap] {
    get { values(of: SDPRTPMap.self) }
    set { setValues(newValue) }
  }

  /// Format parameters.
  public var formatParameters: [SDPFormatParameters] {
    get { values(of: SDPFormatParameters.self) }
    set { setValues(newValue) }
  }

  /// RTCP feedback (RFC 4585 §4.2).
  public var feedback: [SDPFeedback] {
    get { values(of: SDPFeedback.self) }
    set { setValues(newValue) }
  }

  /// Whether congestion feedback by source is offered, or accepted (RFC 8888 §6).
  public var hasFeedbackBySource: Bool {
    feedback.contains { $0.kind == SDPFeedback.bySource.kind }
  }

  /// Stream and track names (RFC 8830).
  public var msids: [SDPMsid] {
    get { values(of: SDPMsid.self) }
    set { setValues(newValue) }
  }

  /// Source attributes (RFC 5576 §4.1).
  public var sources: [SDPSource] {
    get { values(of: SDPSource.self) }
    set { setValues(newValue) }
  }

  /// Source groups (RFC 5576 §4.2).
  public var sourceGroups: [SDPSourceGroup] {
    get { values(of: SDPSourceGroup.self) }
    set { setValues(newValue) }
  }

  /// Restriction identifiers (RFC 8851).
  public var rids: [SDPRid] {
    get { values(of: SDPRid.self) }
    set { setValues(newValue) }
  }

  /// `a=simulcast` (RFC 8853).
  public var simulcast: SDPSimulcast? {
    get { value(of: SDPSimulcast.self) }
    set { setValues(newValue.map { [$0] } ?? []) }
  }

  /// `a=sctp-port` (RFC 8841 §5).
  public var sctpPort: UInt16? {
    get { attribute("sctp-port").flatMap { SDPText.decimal($0[...]) } }
    set { setAttribute("sctp-port", newValue.map(String.init)) }
  }

  /// `a=max-message-size` (RFC 8841 §6) in bytes; 0 means any.
  public var maximumMessageSize: UInt64? {
    get { attribute("max-message-size").flatMap { SDPText.decimal($0[...]) } }
    set { setAttribute("max-message-size", newValue.map(String.init)) }
  }

  /// `a=ptime` in milliseconds.
  public var packetTime: Int? {
    get { attribute("ptime").flatMap { SDPText.decimal($0[...]) } }
    set { setAttribute("ptime", newValue.map(String.init)) }
  }

  /// `a=maxptime` in milliseconds.
  public var maximumPacketTime: Int? {
    get { attribute("maxptime").flatMap { SDPText.decimal($0[...]) } }
    set { setAttribute("maxptime", newValue.map(String.init)) }
  }
}
