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

/// Settings of one encoding of a sender (W3C `RTCRtpEncodingParameters`).
public struct RTCRtpEncodingParameters: Sendable, Equatable {
  public var rid: String?
  public var isActive = true
  /// Bits a second; nil leaves it to the bandwidth estimate.
  public var maxBitrateBps: Int?
  public var minBitrateBps: Int?
  /// Frames a second.
  public var maxFramerate: Double?
  /// 1 or more: the source's width and height are divided by it.
  public var scaleResolutionDownBy: Double?
  /// A W3C scalability mode name such as `L1T1`.
  public var scalabilityMode: String?

  public init(rid: String? = nil) { self.rid = rid }
}

/// Parameters of a sender (W3C `RTCRtpSendParameters`).
public struct RTCRtpParameters: Sendable, CustomStringConvertible {
  public var transactionId: String
  public var encodings: [RTCRtpEncodingParameters]
  public var degradationPreference: RTCDegradationPreference?

  public init(
    transactionId: String = "", encodings: [RTCRtpEncodingParameters] = [],
    degradationPreference: RTCDegradationPreference? = nil
  ) {
    self.transactionId = transactionId
    self.encodings = encodings
    self.degradationPreference = degradationPreference
  }

  public var description: String {
    "transactionId=\(transactionId) degradationPreference=\(degradationPreference?.description ?? "-")"
  }
}
