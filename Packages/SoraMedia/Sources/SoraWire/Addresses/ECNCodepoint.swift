/// What the two ECN bits of an IP header say (RFC 3168 §5).
public enum ECNCodepoint: UInt8, Sendable {
  /// The sender doesn't know ECN.
  case notECT = 0b00
  /// ECN-capable; queues that know L4S treat it as theirs (RFC 9331 §5).
  case ect1 = 0b01
  /// ECN-capable.
  case ect0 = 0b10
  /// A router marked the packet, which it would else have dropped or will soon.
  case congestionExperienced = 0b11
}
