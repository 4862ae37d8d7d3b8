public import SoraMedia
import SoraRTP
public import SoraSDP

/// A codec that can be negotiated, as we write it into offers and answers.
public struct CodecCapability: Sendable, Hashable {
  public var kind: MediaKind
  /// The encoding name, for example `VP8`. Compared without case.
  public var name: String
  /// Hz.
  public var clockRate: Int
  /// Audio channels as rtpmap writes them; nil where it writes none.
  public var channels: Int?
  /// What we want to receive.
  public var parameters: FormatParameters
  /// RTCP feedback that we give and understand, for example `nack pli`.
  public var feedback: [String]
  /// Whether lost packets are retransmitted in a stream of their own (RFC 4588).
  public var usesRetransmission: Bool
  /// Whether we can send it, receive it, or both. Sections that need more than that leave it out.
  public var direction: MediaDirection
  /// The payload type to offer where it is free; the retransmission gets the next free one.
  public var preferredPayloadType: UInt8?

  public init(
    kind: MediaKind, name: String, clockRate: Int, channels: Int? = nil,
    parameters: FormatParameters = [:], feedback: [String] = [], usesRetransmission: Bool = false,
    direction: MediaDirection = .sendrecv, preferredPayloadType: UInt8? = nil
  ) {
    self.kind = kind
    self.name = name
    self.clockRate = clockRate
    self.channels = channels
    self.parameters = parameters
    self.feedback = feedback
    self.usesRetransmission = usesRetransmission
    self.direction = direction
    self.preferredPayloadType = preferredPayloadType
  }

  /// Opus as RFC 7587 §7 wants it written: 48 kHz and two channels, whatever is sent.
  public static let opus = CodecCapability(
    kind: .audio, name: "opus", clockRate: 48000, channels: 2,
    parameters: ["minptime": "10", "useinbandfec": "1"], feedback: ["transport-cc"],
    preferredPayloadType: 111)

  /// G.711, which RFC 7874 §3 requires of every WebRTC endpoint: `.pcmu` or `.pcma`. Other codecs have their own forms.
  public static func g711(_ codec: AudioCodecKind) -> CodecCapability {
    CodecCapability(
      kind: .audio, name: codec.encodingName, clockRate: codec.clockRate,
      channels: codec.rtpMapChannels, feedback: ["transport-cc"],
      preferredPayloadType: codec.staticPayloadType)
  }

  /// Redundant audio data (RFC 2198) around Opus. Its parameters name Opus' payload type, and so are written with the
  /// section (`111/111`).
  public static let red = CodecCapability(
    kind: .audio, name: "red", clockRate: 48000, channels: 2, preferredPayloadType: 63)

  /// Keys of a telephone (RFC 4733), on the clock of the codec that they stand in for. Without parameters they are those of DTMF (§2.4.1).
  ///
  /// - Parameter clockRate: Hz.
  public static func telephoneEvent(clockRate: Int) -> CodecCapability {
    CodecCapability(
      kind: .audio, name: TelephoneEvent.encodingName, clockRate: clockRate,
      feedback: ["transport-cc"], preferredPayloadType: clockRate == 8000 ? 126 : 110)
  }

  /// What a connection negotiates of audio, the preferred first.
  public static let audio: [CodecCapability] = [
    .opus, .red, .g711(.pcmu), .g711(.pcma), .telephoneEvent(clockRate: 48_000),
    .telephoneEvent(clockRate: 8000),
  ]

  /// `opus/48000/2`.
  public var label: String { "\(name)/\(clockRate)" + (channels.map { "/\($0)" } ?? "") }

  /// Feedback that isn't offered, and taken where the peer offers it: sound is sent again where the peer wants to have it.
  var acceptedFeedback: [String] {
    kind == .audio && !isSameText(name, "red") ? feedback + ["nack"] : feedback
  }

  /// Whether we can do with it what a section of this direction asks for.
  func serves(_ wanted: MediaDirection) -> Bool { direction.intersection(wanted) == wanted }

  /// The parameters to answer with where `codec` is this codec in a compatible format, else nil.
  func answer(to codec: SDPCodec, rules: FormatRules) -> FormatParameters? {
    guard isSameText(name, codec.name), clockRate == codec.clockRate,
      (channels ?? 1) == (codec.channels ?? 1)
    else { return nil }
    return rules.rule(for: name)(parameters, codec.parameters)
  }
}

/// ASCII text compared without case, as encoding names are (RFC 8866 §6.6).
func isSameText(_ a: String, _ b: String) -> Bool { a == b || a.lowercased() == b.lowercased() }

/// RTCP feedback that both sides of a codec agreed on.
public struct FeedbackKinds: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Generic NACK (RFC 4585 §6.2.1).
  public static let nack = FeedbackKinds(rawValue: 1)
  /// Picture loss indication (RFC 4585 §6.3.1).
  public static let pli = FeedbackKinds(rawValue: 2)
  /// Full intra request (RFC 5104 §4.3.1).
  public static let fir = FeedbackKinds(rawValue: 4)
  /// Transport-wide feedback.
  public static let transportCC = FeedbackKinds(rawValue: 8)
  /// Receiver estimated maximum bitrate.
  public static let remb = FeedbackKinds(rawValue: 16)

  init(_ names: some Sequence<String>) {
    self = []
    for name in names {
      switch name {
      case "nack": insert(.nack)
      case "nack pli": insert(.pli)
      case "ccm fir": insert(.fir)
      case "transport-cc": insert(.transportCC)
      case "goog-remb": insert(.remb)
      default: break
      }
    }
  }
}

/// The header extensions that this stack may negotiate, by URI.
public enum HeaderExtensionURI {
  public static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
  public static let rid = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
  public static let repairedRid = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
  public static let absSendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
  public static let audioLevel = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
  public static let transportCC =
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
  public static let videoOrientation = "urn:3gpp:video-orientation"
  /// RTP Payload Format For AV1, appendix A.
  public static let dependencyDescriptor =
    "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"

  /// What is offered for audio, in order.
  public static let audio = [audioLevel, absSendTime, transportCC, mid]
  /// What is offered for video, in order.
  public static let video = [
    absSendTime, videoOrientation, transportCC, mid, rid, repairedRid, dependencyDescriptor,
  ]
}
