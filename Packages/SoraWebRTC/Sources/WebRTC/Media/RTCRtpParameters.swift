/// How an encoder adapts when it can't have both (W3C `RTCDegradationPreference`).
public enum RTCDegradationPreference: Int, Sendable, CustomStringConvertible {
  case disabled, maintainFramerate, maintainResolution, balanced

  public var description: String {
    switch self {
    case .disabled: "disabled"
    case .maintainFramerate: "maintain-framerate"
    case .maintainResolution: "maintain-resolution"
    case .balanced: "balanced"
    }
  }
}

/// The largest size of an encoding's frames (W3C `RTCResolutionRestriction`, webrtc-extensions).
public struct RTCResolutionRestriction: Sendable, Equatable {
  /// In pixels, above 0; for sources that are higher than wide the two change places.
  public var maxWidth: Int
  public var maxHeight: Int

  public init(maxWidth: Int, maxHeight: Int) {
    self.maxWidth = maxWidth
    self.maxHeight = maxHeight
  }
}

/// Settings of one encoding of a sender (W3C `RTCRtpEncodingParameters`).
public struct RTCRtpEncodingParameters: Sendable, Equatable {
  public var rid: String?
  public var isActive = true
  /// Bits per second; nil leaves it to the bandwidth estimate.
  public var maxBitrateBps: Int?
  public var minBitrateBps: Int?
  /// Frames per second.
  public var maxFramerate: Double?
  /// 1 or more: the source's width and height are divided by it.
  public var scaleResolutionDownBy: Double?
  /// The source is scaled down to fit in it, and `scaleResolutionDownBy` doesn't count; nil leaves it to that.
  public var scaleResolutionDownTo: RTCResolutionRestriction?
  /// A W3C scalability mode name such as `L1T1`.
  public var scalabilityMode: String?
  /// Audio only: whether the length of packets may follow the network (webrtc-extensions §6.1), as far as the receiver allows. Longer ones save
  /// headers where there is little room, and add delay. nil, which W3C's dictionary doesn't have, leaves it to the engine, which does so;
  /// false keeps to the receiver's preferred length, 20 ms where it names none.
  public var adaptivePtime: Bool?

  public init(rid: String? = nil) { self.rid = rid }
}

/// Parameters of a sender (W3C `RTCRtpSendParameters`).
public struct RTCRtpParameters: Sendable, CustomStringConvertible {
  public var transactionId: String
  public var encodings: [RTCRtpEncodingParameters]
  public var degradationPreference: RTCDegradationPreference?
  /// Bits a sample of AV1 video, 8 or 10; nil is 8. Not W3C's: AV1's main profile has both, so that nothing negotiates it, and not every
  /// receiver decodes 10 (libwebrtc doesn't). VP9 has the bits of its negotiated profile, other codecs have 8, and so has AV1 with
  /// spatial layers.
  public var videoBitDepth: Int?

  public init(
    transactionId: String = "", encodings: [RTCRtpEncodingParameters] = [],
    degradationPreference: RTCDegradationPreference? = nil, videoBitDepth: Int? = nil
  ) {
    self.transactionId = transactionId
    self.encodings = encodings
    self.degradationPreference = degradationPreference
    self.videoBitDepth = videoBitDepth
  }

  public var description: String {
    "transactionId=\(transactionId) degradationPreference=\(degradationPreference?.description ?? "-")"
  }
}
