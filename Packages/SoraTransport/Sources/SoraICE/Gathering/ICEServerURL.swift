import SoraWire

/// Where a STUN or TURN server is, as `stun:`, `stuns:`, `turn:` and `turns:` URLs say it (RFC 7064, RFC 7065).
public struct ICEServerURL: Hashable, Sendable, LosslessStringConvertible {
  public enum Scheme: String, Sendable {
    case stun, stuns, turn, turns

    /// Whether the way to the server is encrypted.
    public var isSecure: Bool { self == .stuns || self == .turns }
    public var isTURN: Bool { self == .turn || self == .turns }
  }

  public enum Transport: String, Sendable {
    case udp, tcp
  }

  public var scheme: Scheme
  public var host: ICEHostAddress
  public var port: UInt16
  /// How the server is reached: what `?transport=` says, else UDP, and TCP for the secure schemes.
  public var transport: Transport

  public init(
    scheme: Scheme, host: ICEHostAddress, port: UInt16? = nil, transport: Transport? = nil
  ) {
    self.scheme = scheme
    self.host = host
    // RFC 7064 §3.2 and RFC 7065 §3.2: the ports of RFC 5389 and 5766.
    self.port = port ?? (scheme.isSecure ? 5349 : 3478)
    self.transport = transport ?? (scheme.isSecure ? .tcp : .udp)
  }

  /// Reads `turn:[2001:db8::1]:3478?transport=tcp` and the like.
  public init(parsing text: String) throws(ICEError) {
    guard text.utf8.count <= 300 else { throw .malformedServerURL(String(text.prefix(64))) }
    let malformed = ICEError.malformedServerURL(text)
    guard let colon = text.firstIndex(of: ":"),
      let scheme = Scheme(rawValue: text[..<colon].lowercased())
    else { throw malformed }
    var rest = text[text.index(after: colon)...]
    var transport: Transport?
    if let question = rest.firstIndex(of: "?") {
      let query = rest[rest.index(after: question)...]
      rest = rest[..<question]
      // RFC 7065 §3.1: the one parameter there is, and only of TURN.
      guard scheme.isTURN, query.hasPrefix("transport="),
        let value = Transport(rawValue: query.dropFirst(10).lowercased())
      else { throw malformed }
      transport = value
    }
    let host: Substring
    var portText: Substring?
    if rest.hasPrefix("[") {
      guard let end = rest.firstIndex(of: "]") else { throw malformed }
      host = rest[rest.index(after: rest.startIndex)..<end]
      let after = rest[rest.index(after: end)...]
      guard IPAddress(String(host))?.isV6 == true, after.isEmpty || after.hasPrefix(":") else {
        throw malformed
      }
      if !after.isEmpty { portText = after.dropFirst() }
    } else if let end = rest.firstIndex(of: ":") {
      host = rest[..<end]
      portText = rest[rest.index(after: end)...]
    } else {
      host = rest
    }
    guard let address = ICEHostAddress(String(host)) else { throw malformed }
    var port: UInt16?
    if let portText {
      guard let value = decimal(portText.utf8, limit: 65535), value > 0 else { throw malformed }
      port = UInt16(value)
    }
    self.init(scheme: scheme, host: address, port: port, transport: transport)
  }

  public init?(_ text: String) { try? self.init(parsing: text) }

  public var description: String {
    let name =
      if case .ip(let ip) = host, ip.isV6 { "[\(ip)]" } else { "\(host)" }
    return "\(scheme.rawValue):\(name):\(port)"
      + (scheme.isTURN ? "?transport=\(transport.rawValue)" : "")
  }

  /// Whether the server is reached over a connection, not with datagrams.
  public var isStream: Bool { transport == .tcp || scheme.isSecure }

  /// `udp`, `tcp` or `tls`: W3C's `RTCIceServerTransportProtocol`.
  public var relayProtocol: String { scheme.isSecure ? "tls" : transport.rawValue }
}

/// A STUN or TURN server to gather candidates from.
public struct ICEServer: Hashable, Sendable {
  public var url: ICEServerURL
  /// What a TURN server asks for; a STUN server asks for nothing.
  public var credentials: LongTermCredentials?
  /// Whether the certificate of a `turns:` server has to be valid.
  public var verifiesCertificate: Bool

  public init(
    url: ICEServerURL, credentials: LongTermCredentials? = nil, verifiesCertificate: Bool = true
  ) {
    self.url = url
    self.credentials = credentials
    self.verifiesCertificate = verifiesCertificate
  }
}

/// Which candidates are used (W3C `RTCIceTransportPolicy`).
public enum ICETransportPolicy: String, Sendable {
  /// Only relayed ones: the peer never sees our addresses.
  case relay
  /// All but those of our own interfaces.
  case noHost
  case all
}

/// What one server did not give, for the message of a connection that failed.
public struct ICEServerFailure: Hashable, Sendable, CustomStringConvertible {
  public let url: ICEServerURL
  public let error: TURNError

  public init(url: ICEServerURL, error: TURNError) {
    self.url = url
    self.error = error
  }

  public var description: String { "\(url): \(error)" }
}
