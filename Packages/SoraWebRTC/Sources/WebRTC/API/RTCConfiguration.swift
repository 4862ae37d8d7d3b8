import Foundation
import SoraICE

/// Whether a TURN server's TLS certificate has to be valid.
public enum RTCTlsCertPolicy: UInt, Sendable {
  case secure, insecureNoCheck
}

/// A STUN or TURN server (W3C `RTCIceServer`).
public struct RTCIceServer: Sendable, Equatable {
  /// `stun:`, `turn:` and `turns:` URLs (RFC 7064, 7065).
  public var urlStrings: [String]
  public var username: String?
  public var credential: String?
  public var tlsCertPolicy: RTCTlsCertPolicy

  public init(
    urlStrings: [String], username: String? = nil, credential: String? = nil,
    tlsCertPolicy: RTCTlsCertPolicy = .secure
  ) {
    self.urlStrings = urlStrings
    self.username = username
    self.credential = credential
    self.tlsCertPolicy = tlsCertPolicy
  }
}

/// Which candidates may be used (W3C `RTCIceTransportPolicy`).
public enum RTCIceTransportPolicy: Int, Sendable {
  case none, relay, noHost, all
}

/// How SDP describes several tracks. Only Unified Plan exists.
public enum RTCSdpSemantics: Int, Sendable {
  case unifiedPlan
}

/// Settings of a peer connection (W3C `RTCConfiguration`).
public struct RTCConfiguration: Sendable {
  public var iceServers: [RTCIceServer] = []
  public var iceTransportPolicy: RTCIceTransportPolicy = .all
  public var sdpSemantics: RTCSdpSemantics = .unifiedPlan
  /// What the connection shows in DTLS; nil makes one for it alone.
  public var certificate: RTCCertificate?
  /// Knobs that no standard names.
  public var settings = RTCSettings()

  public init() {}

  /// Checks what can be wrong in it: the URLs of servers, their user names and credentials, and local addresses.
  public func validate() throws {
    _ = try gathering()
    _ = try settings.parsedLocalAddresses()
  }

  /// The same as `gathering`, with an error that names its stage.
  func checkedGathering() throws(RTCSetupError) -> ICEGatherer.Configuration {
    do {
      return try gathering()
    } catch {
      throw .unusableServer(error)
    }
  }

  /// What the transport gathers from.
  ///
  /// - Throws: `ICEError.malformedServerURL` for a URL that breaks RFC 7064 or RFC 7065, `ICEError.unusableCredential` for a name or
  ///   credential of a TURN server that RFC 8265 §4.2 refuses.
  func gathering() throws(ICEError) -> ICEGatherer.Configuration {
    var gathering = ICEGatherer.Configuration()
    gathering.policy =
      switch iceTransportPolicy {
      case .relay, .none: .relay
      case .noHost: .noHost
      case .all: .all
      }
    // Nothing at all may be used: no relay without a server.
    for server in iceServers where iceTransportPolicy != .none {
      for text in server.urlStrings {
        let url = try ICEServerURL(parsing: text)
        gathering.servers.append(
          ICEServer(
            url: url, credentials: url.scheme.isTURN ? try server.credentials(at: text) : nil,
            verifiesCertificate: server.tlsCertPolicy == .secure))
      }
    }
    return gathering
  }
}

extension RTCIceServer {
  /// The name and the credential as a TURN server wants them (RFC 8489 §9.2.2).
  fileprivate func credentials(at url: String) throws(ICEError) -> LongTermCredentials? {
    func prepare(_ text: String, _ field: String) throws(ICEError) -> String {
      do throws(OpaqueString.Unusable) {
        return try OpaqueString.prepare(text) { $0.precomposedStringWithCanonicalMapping }
      } catch {
        throw .unusableCredential(field: field, server: url, error)
      }
    }
    guard let username else { return nil }
    return LongTermCredentials(
      username: try prepare(username, "username"),
      password: try prepare(credential ?? "", "credential"))
  }
}

/// Constraints in the libwebrtc style. Kept for source compatibility; unknown keys have no effect.
public final class RTCMediaConstraints: Sendable {
  public let mandatoryConstraints: [String: String]
  public let optionalConstraints: [String: String]

  public init(
    mandatoryConstraints: [String: String]? = nil, optionalConstraints: [String: String]? = nil
  ) {
    self.mandatoryConstraints = mandatoryConstraints ?? [:]
    self.optionalConstraints = optionalConstraints ?? [:]
  }
}

/// The kind of a session description (RFC 9429 §4.1).
public enum RTCSdpType: Int, Sendable {
  case offer, prAnswer, answer, rollback
}

/// A session description with its kind.
public final class RTCSessionDescription: Sendable, CustomStringConvertible {
  public let type: RTCSdpType
  public let sdp: String

  public init(type: RTCSdpType, sdp: String) {
    self.type = type
    self.sdp = sdp
  }

  public var description: String { "RTCSessionDescription(\(type), \(sdp.utf8.count) bytes)" }
}

/// A candidate as signaling carries it.
public final class RTCIceCandidate: Sendable, CustomStringConvertible {
  /// The candidate line, `candidate:...` (RFC 8839 §5.1).
  public let sdp: String
  public let sdpMid: String?
  public let sdpMLineIndex: Int32
  public let serverUrl: String?

  public init(
    sdp: String, sdpMLineIndex: Int32 = 0, sdpMid: String? = nil, serverUrl: String? = nil
  ) {
    self.sdp = sdp
    self.sdpMLineIndex = sdpMLineIndex
    self.sdpMid = sdpMid
    self.serverUrl = serverUrl
  }

  public var description: String { sdp }
}
