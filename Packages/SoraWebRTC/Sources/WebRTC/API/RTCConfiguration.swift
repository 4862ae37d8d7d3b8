import Foundation
import SoraICE
public import SoraTransport

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

/// Knobs beside the standard surface. The defaults are right for a call over the internet.
public struct RTCSettings: Sendable {
  /// Whether host candidates are gathered on loopback addresses. They are tried last, cost nothing where the other
  /// side is elsewhere, and let two programs of one machine talk when it has no network.
  public var gathersLoopback = true
  /// Whether host candidates are gathered on IPv6 addresses.
  public var gathersIPv6 = true
  /// Opens connections to TURN servers over TCP and TLS; without it only those reached over UDP are used. `SoraTURNStream` has one.
  public var streamConnector: (any ICEStreamConnector)?
  /// Whether addresses that come and go while a call runs are followed.
  public var followsInterfaces = true
  /// Local addresses to gather on, as text; empty means every address of the host.
  public var localAddresses: [String] = []
  /// Silence of the other side after which the connection has failed; `disconnected` comes after 2.5 s. RFC 7675 §5.1 allows up to 30 s:
  /// more lets it outlive a link that is gone for longer, and notices later that the other side has vanished.
  public var consentTimeout: Duration = .seconds(5)
  /// The same while a TURN server may be what is silent: ours that owes us an answer, or the other side's. Long enough for one that
  /// restarts.
  public var relayedConsentTimeout: Duration = .seconds(30)
  /// First bitrate of the bandwidth estimate, in bits a second.
  public var startBitrate = 1_000_000
  /// Least the estimate falls to, in bits a second.
  public var minBitrate = 50_000
  /// Most the estimate rises to, in bits a second.
  public var maxBitrate = 30_000_000
  /// Earlier packets that each packet of sound repeats (RED, RFC 2198) where the other side takes that, 0 to 4. A copy
  /// makes good a lost packet and costs as much again. nil sends one to those that prefer it, as browsers do.
  public var audioRedundancy: Int?

  public init() {}

  /// `localAddresses`, read.
  func parsedLocalAddresses() throws(RTCSetupError) -> [IPAddress] {
    try localAddresses.map { text throws(RTCSetupError) in
      guard let address = IPAddress(text) else { throw .malformedLocalAddress(text) }
      return address
    }
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
