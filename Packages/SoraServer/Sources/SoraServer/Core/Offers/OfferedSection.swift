import SoraMedia
import SoraRTP
import SoraSDP
import SoraSignalingMessages

/// One media section of a client's offer, with what the server knows of it.
struct OfferedSection: Sendable {
  /// nil for what is neither audio nor video.
  let kind: MediaKind?
  let mid: String
  /// As they were written: an answer repeats them.
  let kindName: String
  let proto: String
  let formats: [String]
  /// Whether it is answered with more than a port 0.
  let isUsed: Bool
  /// In the order of the client's liking.
  let codecs: [OfferedCodec]
  let extensions: [SDPExtension]
  /// The layers that a publisher would send, the lowest first; empty without simulcast.
  let simulcast: SimulcastOffer
  let hasReducedSize: Bool
  /// Whether the client gives and takes congestion feedback by source (RFC 8888).
  let hasFeedbackBySource: Bool

  /// - Parameters:
  ///   - media: the section.
  ///   - purpose: what the client wants to do.
  ///   - allowsMixed: whether one-byte and two-byte forms of extensions may follow each other (RFC 8285 §4.1.2).
  init(
    _ media: MediaDescription, to purpose: SFUOfferPurpose, allowsMixed: Bool
  ) throws(SFUOfferError) {
    kind = media.mediaKind
    kindName = media.kind
    proto = media.proto
    formats = media.formats
    mid = media.mid ?? ""
    hasReducedSize = media.rtcpReducedSize
    hasFeedbackBySource = media.hasFeedbackBySource
    let isOffered = media.port != 0 || media.isBundleOnly
    let flows = purpose == .publish ? media.direction.sends : media.direction.receives
    isUsed = isOffered && kind != nil && flows
    guard isUsed, let kind else {
      codecs = []
      extensions = []
      simulcast = SimulcastOffer()
      return
    }
    guard (1...RTPExtensionText.maximumCount).contains(mid.utf8.count) else {
      throw .unacceptable(
        "each section needs a mid of at most \(RTPExtensionText.maximumCount) bytes")
    }
    // RFC 9725 §4.4.1: RTP and RTCP share the transport.
    guard media.rtcpMux else { throw .unacceptable("each section needs rtcp-mux") }
    codecs = OfferedCodec.read(media, kind)
    // RFC 9725 §4.4.3: half a session would mislead.
    guard !codecs.isEmpty else {
      throw .unacceptable("its \(kind.rawValue) section has no codec that this server knows")
    }
    simulcast = purpose == .publish && kind == .video ? try OfferedRids.read(media) : .init()
    var known: [SDPExtension] = []
    for line in media.extensions where line.direction != .inactive && line.id <= 255 {
      guard let kind = RTPHeaderExtensionKind(uri: line.uri),
        kind != .dependencyDescriptor || allowsMixed,
        !known.contains(where: { $0.uri == line.uri || $0.id == line.id })
      else { continue }
      known.append(SDPExtension(id: line.id, uri: line.uri))
    }
    extensions = known
  }

  /// What a publisher is to send: of what it may send what it likes best. nil where there is none.
  func codec(for request: SFUConnectRequest) -> OfferedCodec? {
    let wanted = kind == .audio ? request.audio?.codecType : request.video?.codecType
    guard let name = wanted ?? codecs.first?.codec.name else { return nil }
    let fitting = codecs.filter { $0.codec.name.lowercased() == name.lowercased() }
    return fitting.first { $0.codec.isUsualH264 } ?? fitting.first { $0.codec.isNonInterleavedH264 }
      ?? fitting.first
  }

  /// The extensions that both sides know, for packets of any of these codecs.
  func extensions(of codecs: [SFUCodec], isSimulcast: Bool) -> [SDPExtension] {
    extensions.filter { line in
      guard let kind = RTPHeaderExtensionKind(uri: line.uri) else { return false }
      return codecs.contains { kind.belongs(to: $0, isSimulcast: isSimulcast) }
    }
  }
}

/// One format of a client's offer, in the server's words.
struct OfferedCodec: Sendable {
  var codec: SFUCodec
  var types: SFUPayloadTypes.Assignment
  /// RTCP feedback that is agreed on, but for what is of the whole section.
  var feedback: [String]

  var hasNack: Bool { feedback.contains("nack") }

  /// Those that the server knows, in their order.
  static func read(_ media: MediaDescription, _ kind: MediaKind) -> [OfferedCodec] {
    let all = media.codecs
    let replaced = media.hasFeedbackBySource ? SDPFeedback.replacedBySource : []
    return all.indices.compactMap { index in
      let offered = all[index]
      guard let codec = SFUCodec(offered, kind) else { return nil }
      let rtx = all.first { $0.associatedPayloadType == offered.payloadType }
      let keys = all.first {
        $0.name.lowercased() == TelephoneEvent.encodingName && $0.clockRate == offered.clockRate
      }
      let red = all.firstIndex { redundant in
        let inside = redundant.redundantPayloadTypes
        return !inside.isEmpty && inside.allSatisfy { $0 == offered.payloadType }
      }
      return OfferedCodec(
        codec: codec,
        types: SFUPayloadTypes.Assignment(
          media: offered.payloadType, rtx: rtx?.payloadType, telephone: keys?.payloadType,
          red: red.map { all[$0].payloadType }, prefersRED: red.map { $0 < index } ?? false),
        feedback: codec.feedback.filter {
          offered.feedback.contains($0) && !replaced.contains($0)
        })
    }
  }

  /// How well a track's packets fit a player that has offered this format: the lower, the better. nil where they don't.
  func distance(to published: SFUCodec) -> Int? {
    guard codec.name == published.name else { return nil }
    guard let kind = VideoCodecKind(encodingName: codec.name) else { return 0 }
    guard codec.parameters.isSameFormat(as: published.parameters, of: kind.format) else {
      return nil
    }
    guard kind == .h264 else { return 0 }
    let (mine, its) = (codec.h264Profile, published.h264Profile)
    // Each of the three has what the one before it has.
    return mine >= its ? mine - its : nil
  }
}

extension SFUCodec {
  /// nil where the server doesn't know it.
  fileprivate init?(_ offered: SDPCodec, _ kind: MediaKind) {
    let known: [VideoCodecFormat.Parameter]
    switch kind {
    case .audio:
      guard let codec = AudioCodecKind(encodingName: offered.name),
        codec.clockRate == offered.clockRate
      else { return nil }
      self.init(
        kind: .audio, name: codec.encodingName, clockRate: codec.clockRate,
        channels: codec.rtpMapChannels, parameters: [:])
      known = []
    case .video:
      guard let codec = VideoCodecKind(encodingName: offered.name),
        offered.clockRate == VideoCodecFormat.clockRate
      else { return nil }
      self.init(
        kind: .video, name: codec.encodingName, clockRate: VideoCodecFormat.clockRate,
        parameters: [:])
      known = codec.format.parameters
    }
    // Subscribers are told them, so that only those go on that mean something, and can't be long.
    for key in known.map(\.name) {
      if let value = offered.parameters[key], value.utf8.count <= 16 { parameters[key] = value }
    }
  }

  /// The non-interleaved mode (RFC 6184 §6.3), as all of the field send them.
  fileprivate var isNonInterleavedH264: Bool { parameters["packetization-mode"] == "1" }

  /// Baseline that everybody decodes.
  fileprivate var isUsualH264: Bool { isNonInterleavedH264 && h264Profile == 0 }

  /// 0 for baseline, 1 for main, 2 for high and what is beyond (RFC 6184 §8.1).
  fileprivate var h264Profile: Int {
    switch parameters["profile-level-id"]?.prefix(2).lowercased() {
    case nil, "42": 0
    case "4d", "58": 1
    default: 2
    }
  }
}
