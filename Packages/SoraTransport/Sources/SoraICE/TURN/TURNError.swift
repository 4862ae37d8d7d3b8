public import SoraWire

/// Why a STUN or TURN server gave no address, or took it back.
public enum TURNError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No answer to any transmission.
  case timedOut
  /// The server wants credentials and none are set.
  case credentialsMissing
  /// The server doesn't take the name and password (401 to a signed request, or 441).
  case wrongCredentials
  /// An error response with another code.
  case refused(code: Int, reason: String)
  /// A response without what it must have.
  case malformedResponse
  /// The server names another one (300); over a stream that takes a new connection.
  case redirected(TransportAddress)
  /// The server has forgotten the allocation (437), or it ran out.
  case allocationLost
  /// The connection to the server couldn't be made, or ended.
  case disconnected(reason: String)
  /// The server's name has no address.
  case unresolvable(name: String)
  /// `https://` proxies, unknown transports and the like: what this program can't do.
  case unsupported(String)

  /// Whether the same server may give another allocation soon: after a restart, or a connection that broke. What is wrong with the
  /// credentials or with what is asked for stays wrong.
  var isRecoverable: Bool {
    switch self {
    case .timedOut, .allocationLost, .disconnected: true
    // RFC 8656 §7.4: an allocation of before, a quota, and capacity.
    case .refused(let code, _): code == 437 || code == 486 || (500...599).contains(code)
    case .credentialsMissing, .wrongCredentials, .malformedResponse, .redirected, .unresolvable,
      .unsupported:
      false
    }
  }

  public var description: String {
    switch self {
    case .timedOut: "no answer; check the address and that the port isn't filtered"
    case .credentialsMissing: "the server wants a user name and a credential"
    case .wrongCredentials: "the server refuses the user name or credential"
    case .refused(let code, let reason): "refused with \(code) (\(reason))"
    case .malformedResponse: "the response lacks what it must have"
    case .redirected(let server): "the server sends its clients to \(server)"
    case .allocationLost: "the server has given up the allocation"
    case .disconnected(let reason): "the connection ended: \(reason)"
    case .unresolvable(let name): "\"\(name)\" has no address"
    case .unsupported(let what): "\(what) isn't supported"
    }
  }
}
