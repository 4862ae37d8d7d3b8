/// The header extensions that this stack understands.
public enum RTPHeaderExtensionKind: UInt8, CaseIterable, Sendable, Hashable {
  case mid
  case rid
  case repairedRid
  case absSendTime
  case audioLevel
  case transportSequenceNumber
  case videoOrientation
  case dependencyDescriptor

  /// The URI that SDP's `a=extmap` names it by.
  public var uri: String {
    switch self {
    case .mid: "urn:ietf:params:rtp-hdrext:sdes:mid"  // RFC 8843 §15
    case .rid: "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"  // RFC 8852 §3.1
    case .repairedRid: "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"  // RFC 8852 §3.2
    case .absSendTime: "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
    case .audioLevel: "urn:ietf:params:rtp-hdrext:ssrc-audio-level"  // RFC 6464
    case .transportSequenceNumber:
      "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    case .videoOrientation: "urn:3gpp:video-orientation"  // 3GPP TS 26.114
    case .dependencyDescriptor: DependencyDescriptor.uri
    }
  }

  /// The kind with this URI.
  public init?(uri: String) {
    guard let kind = RTPHeaderExtensionKind.allCases.first(where: { $0.uri == uri }) else {
      return nil
    }
    self = kind
  }
}

/// Which id each header extension has on one transport, as negotiated in SDP. `nil` means not negotiated.
public struct RTPHeaderExtensionMap: Sendable, Equatable {
  public var mid: UInt8?
  public var rid: UInt8?
  public var repairedRid: UInt8?
  public var absSendTime: UInt8?
  public var audioLevel: UInt8?
  public var transportSequenceNumber: UInt8?
  public var videoOrientation: UInt8?
  public var dependencyDescriptor: UInt8?

  /// A map without extensions.
  public init() {}

  /// From the id and URI of each `a=extmap` line. URIs that aren't known and ids outside 1...255 are left out.
  public init(_ pairs: [(id: Int, uri: String)]) {
    for pair in pairs {
      guard (1...255).contains(pair.id), let kind = RTPHeaderExtensionKind(uri: pair.uri) else {
        continue
      }
      self[kind] = UInt8(pair.id)
    }
  }

  /// The URIs of all extensions that this stack understands.
  public static var uris: [String] { RTPHeaderExtensionKind.allCases.map(\.uri) }

  /// The id of one extension.
  public subscript(kind: RTPHeaderExtensionKind) -> UInt8? {
    get {
      switch kind {
      case .mid: mid
      case .rid: rid
      case .repairedRid: repairedRid
      case .absSendTime: absSendTime
      case .audioLevel: audioLevel
      case .transportSequenceNumber: transportSequenceNumber
      case .videoOrientation: videoOrientation
      case .dependencyDescriptor: dependencyDescriptor
      }
    }
    set {
      switch kind {
      case .mid: mid = newValue
      case .rid: rid = newValue
      case .repairedRid: repairedRid = newValue
      case .absSendTime: absSendTime = newValue
      case .audioLevel: audioLevel = newValue
      case .transportSequenceNumber: transportSequenceNumber = newValue
      case .videoOrientation: videoOrientation = newValue
      case .dependencyDescriptor: dependencyDescriptor = newValue
      }
    }
  }
}
