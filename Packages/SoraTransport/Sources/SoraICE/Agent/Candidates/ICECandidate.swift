public import SoraWire

/// Where a candidate says it can be reached: an address, or a name that somebody has to resolve.
public enum ICEHostAddress: Hashable, Sendable, CustomStringConvertible {
  case ip(IPAddress)
  /// A host name; names ending in `.local` are resolved over multicast DNS.
  case name(String)

  /// Reads an address, and otherwise a name of letters, digits, `-`, `_` and `.`.
  public init?(_ text: String) {
    if let ip = IPAddress(text) {
      self = .ip(ip)
      return
    }
    let characters = text.utf8
    guard !characters.isEmpty, characters.count <= 253,
      characters.contains(where: {
        $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z")
      }),
      characters.allSatisfy(isNameCharacter)
    else { return nil }
    self = .name(text)
  }

  public var description: String {
    switch self {
    case .ip(let ip): ip.description
    case .name(let name): name
    }
  }

  /// The address, when it is one.
  public var ip: IPAddress? {
    if case .ip(let ip) = self { return ip }
    return nil
  }
}

private func isNameCharacter(_ character: UInt8) -> Bool {
  switch character {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
    true
  default: false
  }
}

/// How an address was learnt (RFC 8445 §5.1.1).
public enum ICECandidateType: Hashable, Sendable, CustomStringConvertible {
  case host
  /// Seen by a STUN server.
  case srflx
  /// Seen by the peer in a connectivity check.
  case prflx
  /// Allocated on a TURN server.
  case relay
  /// A type this module doesn't know; kept, never used.
  case other(String)

  init(_ text: String) {
    switch text {
    case "host": self = .host
    case "srflx": self = .srflx
    case "prflx": self = .prflx
    case "relay": self = .relay
    default: self = .other(text)
    }
  }

  public var description: String {
    switch self {
    case .host: "host"
    case .srflx: "srflx"
    case .prflx: "prflx"
    case .relay: "relay"
    case .other(let text): text
    }
  }

  // RFC 8445 §5.1.2.2.
  var preference: UInt32 {
    switch self {
    case .host: 126
    case .prflx: 110
    case .srflx: 100
    case .relay, .other: 0
    }
  }
}

/// The transport of a candidate. Only UDP is used for checks.
public enum ICETransportProtocol: Hashable, Sendable, CustomStringConvertible {
  case udp
  /// RFC 6544; parsed and kept, not used.
  case tcp
  case other(String)

  init(_ text: String) {
    switch text.lowercased() {
    case "udp": self = .udp
    case "tcp": self = .tcp
    default: self = .other(text)
    }
  }

  public var description: String {
    switch self {
    case .udp: "udp"
    case .tcp: "tcp"
    case .other(let text): text
    }
  }
}

/// An address at which a peer may be reached, as SDP's `candidate` attribute carries it (RFC 8839 §5.1).
///
/// A parsed candidate prints as it was read, with its extensions in order, unless it was changed in between.
public struct ICECandidate: Sendable {
  /// A name and a value that follow the candidate's fixed fields.
  public struct Extension: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Where the candidate comes from: the base of a reflexive candidate, the mapped address of a relayed one.
  public struct RelatedAddress: Hashable, Sendable {
    public var address: ICEHostAddress
    /// `nil` where the line had an address without a port.
    public var port: UInt16?

    public init(address: ICEHostAddress, port: UInt16?) {
      self.address = address
      self.port = port
    }
  }

  /// Equal for candidates of one type, base address, protocol and server: 1 to 32 letters, digits, `+` or `/`.
  public var foundation: String
  /// 1 for RTP (and all there is with rtcp-mux), 2 for RTCP; 1...256.
  public var component: Int
  public var transport: ICETransportProtocol
  /// RFC 8445 §5.1.2; higher is better.
  public var priority: UInt32
  public var address: ICEHostAddress
  public var port: UInt16
  public var type: ICECandidateType
  public var relatedAddress: RelatedAddress?
  /// Everything after the fixed fields, in order: `tcptype`, `generation`, `ufrag`, `network-id` and others.
  public var extensions: [Extension]

  // How the peer spelt what has more than one spelling, so that the line prints as it came.
  var transportSpelling: String?
  var addressSpelling: String?
  var relatedSpelling: String?

  public init(
    foundation: String, component: Int = 1, transport: ICETransportProtocol = .udp,
    priority: UInt32, address: ICEHostAddress, port: UInt16, type: ICECandidateType,
    relatedAddress: RelatedAddress? = nil, extensions: [Extension] = []
  ) {
    self.foundation = foundation
    self.component = component
    self.transport = transport
    self.priority = priority
    self.address = address
    self.port = port
    self.type = type
    self.relatedAddress = relatedAddress
    self.extensions = extensions
  }

  /// The user fragment of the session the candidate belongs to (RFC 8838 §4.1), where the line names it.
  public var ufrag: String? { value(of: "ufrag") }

  /// `active`, `passive` or `so` for TCP candidates (RFC 6544 §4.5).
  public var tcpType: String? { value(of: "tcptype") }

  /// The address and port, once the address isn't a name.
  public var transportAddress: TransportAddress? {
    address.ip.map { TransportAddress(ip: $0, port: port) }
  }

  /// The same candidate at an address: what to add after resolving `.unresolvedCandidate`.
  public func resolved(to ip: IPAddress) -> ICECandidate {
    var copy = self
    copy.address = .ip(ip)
    return copy
  }

  private func value(of name: String) -> String? {
    extensions.first { $0.name == name }?.value
  }
}

extension ICECandidate: Equatable {
  /// Equal in meaning: `UDP` and `udp` don't differ, nor do two spellings of one IPv6 address.
  public static func == (a: ICECandidate, b: ICECandidate) -> Bool {
    a.foundation == b.foundation && a.component == b.component && a.transport == b.transport
      && a.priority == b.priority && a.address == b.address && a.port == b.port
      && a.type == b.type && a.relatedAddress == b.relatedAddress && a.extensions == b.extensions
  }
}
