/// A version of DTLS by its number on the wire; the newer the smaller.
public enum DTLSVersion: UInt16, Hashable, Sendable, CaseIterable {
  /// DTLS 1.2 (RFC 6347).
  case v12 = 0xFEFD
  /// DTLS 1.3 (RFC 9147).
  case v13 = 0xFEFC
}
