/// What `SoraICE` refuses, with the field and the value.
public enum ICEError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A candidate line breaks the grammar of RFC 8839 §5.1 at `field`; `value` is what stood there.
  case malformedCandidate(field: String, value: String)
  /// `ice-ufrag` or `ice-pwd` breaks RFC 8839 §5.4: 4 to 256, and 22 to 256, letters, digits, `+` or `/`.
  case malformedParameters(field: String, value: String)
  /// A URL of a STUN or TURN server breaks the grammar of RFC 7064 §3.1 or RFC 7065 §3.1.
  case malformedServerURL(String)
  /// The user name or credential (`field`) of a TURN server can't be prepared as RFC 8265 §4.2 wants it.
  case unusableCredential(field: String, server: String, OpaqueString.Unusable)

  public var description: String {
    switch self {
    case .malformedServerURL(let text):
      "\"\(text)\" is no STUN or TURN URL; write stun:HOST[:PORT], turn:HOST[:PORT][?transport=udp|tcp] or "
        + "turns:HOST[:PORT] (RFC 7064, RFC 7065)"
    case .unusableCredential(let field, let server, let reason):
      "the \(field) of \(server) can't be used: \(reason)"
    case .malformedCandidate(let field, let value):
      "ICE candidate: \(field) can't be \"\(value)\" (RFC 8839 §5.1)"
    case .malformedParameters(let field, let value):
      "ICE \(field) can't be \"\(value)\" (RFC 8839 §5.4)"
    }
  }
}

/// Why bytes aren't a STUN message that this module reads.
public enum STUNError: Error, Hashable, Sendable {
  /// Shorter than a header, without the magic cookie, or not starting with two zero bits.
  case notSTUN
  /// The length field isn't the size of the datagram, or isn't a multiple of four.
  case badLength
  /// An attribute reaches beyond the end of the message.
  case truncatedAttribute(type: UInt16)
  /// An attribute that this module reads has a wrong length or value.
  case malformedAttribute(type: UInt16)
  /// More than 64 attributes.
  case tooManyAttributes
}
