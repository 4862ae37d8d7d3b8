/// What counts as one place that clients come from: an IPv4 address, or the first 64 bits of an IPv6 address, whose rest a host may choose
/// (RFC 7421).
public struct ClientNetwork: Hashable, Sendable {
  private let prefix: IPAddress

  public init(_ address: IPAddress) {
    guard let bits = address.v6Bits else {
      prefix = address
      return
    }
    prefix =
      address.isV4Mapped
      ? IPAddress(v4: UInt32(truncatingIfNeeded: bits.1)) : IPAddress(v6: (bits.0, 0))
  }

  /// - Parameter text: of an address; nil results where it is none.
  public init?(_ text: String) {
    guard let address = IPAddress(text) else { return nil }
    self.init(address)
  }
}
