public import SoraMedia
public import SoraRTP

/// Earlier packets that each packet of a stream repeats (RFC 2198).
public struct RTPRedundancy: Sendable, Hashable {
  /// That of RED; the packets inside keep the codec's own.
  public var payloadType: UInt8
  /// Packets that are repeated, 0...`REDPayload.maximumRedundancy`.
  public var copies: Int

  public init(payloadType: UInt8, copies: Int = 1) {
    self.payloadType = payloadType
    self.copies = copies
  }
}

/// Repair packets beside a stream, from which its receiver makes lost ones anew.
public enum RTPForwardErrorCorrection: Sendable, Hashable {
  /// ULPFEC (RFC 5109): all packets of the stream go inside RED (RFC 2198).
  ///
  /// - Parameters:
  ///   - red: RED's payload type.
  ///   - payloadType: that of repair packets inside.
  ///   - rtx: that of retransmissions of RED; nil where there are none.
  case uneven(red: UInt8, payloadType: UInt8, rtx: UInt8?)
  /// FlexFEC (draft-ietf-payload-flexible-fec-scheme-03), from a source of its own.
  case flexible(ssrc: UInt32, payloadType: UInt8)
}

/// How one stream is sent: the outcome of negotiation for a sending m-section (or one rid of it).
public struct RTPSendParameters: Sendable, Equatable {
  public var mid: String
  public var rid: String?
  public var kind: MediaKind
  public var ssrc: UInt32
  public var payloadType: UInt8
  /// Encoding name as in SDP, such as `VP8` or `opus`.
  public var codecName: String
  /// What the receiver declared for the payload type (`a=fmtp`), by name: H.264's `packetization-mode`, for example.
  public var formatParameters: [String: String]
  /// Ticks a second of the RTP clock.
  public var clockRate: Int
  /// The stream and payload type of retransmissions (RFC 4588); nil where they weren't negotiated.
  public var rtx: (ssrc: UInt32, payloadType: UInt8)?
  /// Audio only: nil sends the codec's packets bare.
  public var redundancy: RTPRedundancy?
  public var extensions: RTPHeaderExtensionMap
  /// Whether the receiver may ask for lost packets.
  public var acceptsNack: Bool
  /// How the receiver tells what became of packets.
  public var feedback = CongestionFeedbackKind.transportWide
  /// Video only: nil sends no repair packets.
  public var repair: RTPForwardErrorCorrection?
  /// Audio only: the payload type of telephone events (RFC 4733) on the codec's clock; nil where they weren't negotiated.
  public var telephoneEvents: UInt8?

  public init(
    mid: String, rid: String? = nil, kind: MediaKind, ssrc: UInt32, payloadType: UInt8,
    codecName: String, formatParameters: [String: String] = [:], clockRate: Int,
    rtx: (ssrc: UInt32, payloadType: UInt8)? = nil, redundancy: RTPRedundancy? = nil,
    extensions: RTPHeaderExtensionMap = RTPHeaderExtensionMap(), acceptsNack: Bool = true
  ) {
    self.mid = mid
    self.rid = rid
    self.kind = kind
    self.ssrc = ssrc
    self.payloadType = payloadType
    self.codecName = codecName
    self.formatParameters = formatParameters
    self.clockRate = clockRate
    self.rtx = rtx
    self.redundancy = redundancy
    self.extensions = extensions
    self.acceptsNack = acceptsNack
  }

  public static func == (a: RTPSendParameters, b: RTPSendParameters) -> Bool {
    a.mid == b.mid && a.rid == b.rid && a.kind == b.kind && a.ssrc == b.ssrc
      && a.payloadType == b.payloadType && a.codecName == b.codecName
      && a.formatParameters == b.formatParameters && a.clockRate == b.clockRate
      && a.rtx?.ssrc == b.rtx?.ssrc && a.rtx?.payloadType == b.rtx?.payloadType
      && a.redundancy == b.redundancy && a.extensions == b.extensions
      && a.acceptsNack == b.acceptsNack && a.feedback == b.feedback
      && a.repair == b.repair && a.telephoneEvents == b.telephoneEvents
  }
}

/// What an m-section may receive: the outcome of negotiation for it.
public struct RTPReceiveParameters: Sendable, Equatable {
  /// One payload type of the section.
  public struct Payload: Sendable, Equatable {
    public var type: UInt8
    public var codecName: String
    /// What the sender declared for the payload type (`a=fmtp`), by name: H.264's `sprop-parameter-sets`, for example.
    public var formatParameters: [String: String]
    public var clockRate: Int
    /// For `rtx`, the payload type whose packets it repeats.
    public var associatedType: UInt8?

    public init(
      type: UInt8, codecName: String, formatParameters: [String: String] = [:], clockRate: Int,
      associatedType: UInt8? = nil
    ) {
      self.type = type
      self.codecName = codecName
      self.formatParameters = formatParameters
      self.clockRate = clockRate
      self.associatedType = associatedType
    }
  }

  public var mid: String
  public var kind: MediaKind
  public var payloads: [Payload]
  public var extensions: RTPHeaderExtensionMap
  /// Sources that the description names; others are recognised by their mid or payload type.
  public var signalledSSRCs: [UInt32]
  /// Pairs of a source and the source of its repair packets (`a=ssrc-group:FEC-FR`).
  public var repairPairs: [(primary: UInt32, repair: UInt32)] = []
  /// Pairs of a source and its retransmission source (`a=ssrc-group:FID`).
  public var retransmissionPairs: [(primary: UInt32, rtx: UInt32)]
  /// Whether lost packets may be asked for.
  public var sendsNack: Bool
  /// How the sender is told what became of its packets.
  public var feedback = CongestionFeedbackKind.transportWide
  /// The layers that the sender announced (RFC 8853), each a stream of its own; empty where the section carries one stream.
  public var rids: [String] = []
  /// Whether the sender answers reference times (RFC 3611 §4.5).
  public var sendsReferenceTime = false

  public init(
    mid: String, kind: MediaKind, payloads: [Payload],
    extensions: RTPHeaderExtensionMap = RTPHeaderExtensionMap(), signalledSSRCs: [UInt32] = [],
    retransmissionPairs: [(primary: UInt32, rtx: UInt32)] = [], sendsNack: Bool = true
  ) {
    self.mid = mid
    self.kind = kind
    self.payloads = payloads
    self.extensions = extensions
    self.signalledSSRCs = signalledSSRCs
    self.retransmissionPairs = retransmissionPairs
    self.sendsNack = sendsNack
  }

  public static func == (a: RTPReceiveParameters, b: RTPReceiveParameters) -> Bool {
    a.mid == b.mid && a.kind == b.kind && a.payloads == b.payloads && a.extensions == b.extensions
      && a.signalledSSRCs == b.signalledSSRCs && a.sendsNack == b.sendsNack
      && a.feedback == b.feedback && a.sendsReferenceTime == b.sendsReferenceTime
      && a.rids == b.rids && a.repairPairs.map { $0.primary } == b.repairPairs.map { $0.primary }
      && a.repairPairs.map { $0.repair } == b.repairPairs.map { $0.repair }
      && a.retransmissionPairs.map { $0.primary } == b.retransmissionPairs.map { $0.primary }
      && a.retransmissionPairs.map { $0.rtx } == b.retransmissionPairs.map { $0.rtx }
  }

  func payload(_ type: UInt8) -> Payload? { payloads.first { $0.type == type } }
}

extension [RTPReceiveParameters] {
  /// Ids of header extensions over all sections, which BUNDLE keeps the same (RFC 8843 §9.2).
  var extensions: RTPHeaderExtensionMap {
    var extensions = RTPHeaderExtensionMap()
    for section in self {
      for kind in RTPHeaderExtensionKind.allCases where extensions[kind] == nil {
        extensions[kind] = section.extensions[kind]
      }
    }
    return extensions
  }

  /// How the peer is told what became of its packets. Without numbers there is nothing to tell of them.
  var feedback: CongestionFeedbackKind {
    let usable = filter {
      $0.feedback != .transportWide || $0.extensions.transportSequenceNumber != nil
    }
    return usable.map(\.feedback).mostPrecise ?? .transportWide
  }
}
