import SoraMedia
public import SoraSDP

/// What a negotiator may offer and accept.
public struct NegotiationConfiguration: Sendable {
  /// In order of preference.
  public var audioCodecs: [CodecCapability] = [.opus, .red]
  /// In order of preference.
  public var videoCodecs: [CodecCapability] = [.vp8]
  /// How format parameters are compared, codec by codec.
  public var formatRules: FormatRules = .standard
  /// URIs of header extensions for audio.
  public var audioExtensions: [String] = HeaderExtensionURI.audio
  /// URIs of header extensions for video.
  public var videoExtensions: [String] = HeaderExtensionURI.video

  /// Whether receivers' reference times are offered and accepted (RFC 3611 §4.4), by which who sends nothing learns its round trip.
  public var usesReferenceTimes = true
  /// Whether feedback by source, with ECN marks, is offered (RFC 8888) in place of transport-wide feedback; it is accepted in any case.
  public var offersFeedbackBySource = false
  /// Whether repair packets (ULPFEC, FlexFEC) for video are offered, and whether they are accepted.
  public var offersRepair = false
  public var acceptsRepair = true

  /// Our ICE credentials. Change them before createOffer or createAnswer to restart ICE.
  public var iceUfrag: String
  public var icePassword: String
  /// Whether we are an ICE-lite agent.
  public var isICELite = false
  /// Whether candidates follow after the description.
  public var tricklesICE = true
  /// Of our DTLS certificate.
  public var fingerprints: [SDPFingerprint]
  /// Our DTLS role when the offer leaves the choice: `.active` is the client (RFC 9429 §5.3.1 recommends it).
  public var answerSetup: SDPSetup = .active

  /// Whether an application section is accepted.
  public var acceptsDataChannels = false
  /// Our SCTP port and the largest message we take, in bytes.
  public var sctpPort: UInt16 = 5000
  public var maximumMessageSize: UInt64 = 262_144

  /// Whether we send simulcast to a peer that offers to receive it.
  public var sendsSimulcast = true
  /// Whether we receive simulcast from a peer that offers to send it.
  public var receivesSimulcast = false
  /// The stream of a track for which a peer names none at all, as old endpoints do; nil puts it in no stream.
  public var defaultStreamID: String? = "default"

  public init(iceUfrag: String, icePassword: String, fingerprints: [SDPFingerprint]) {
    self.iceUfrag = iceUfrag
    self.icePassword = icePassword
    self.fingerprints = fingerprints
  }

  func codecs(_ kind: MediaKind) -> [CodecCapability] { kind == .audio ? audioCodecs : videoCodecs }

  func extensions(_ kind: MediaKind) -> [String] {
    kind == .audio ? audioExtensions : videoExtensions
  }
}
