public import SoraICE

/// What a router, or this host's kernel, has said of the longest packet that a path takes.
public struct PathMTUReport: Sendable, Hashable {
  public let destination: IPAddress
  /// Bytes of the longest IP packet, headers included: a datagram's payload has 28 fewer over IPv4, 48 fewer over
  /// IPv6.
  public let mtu: Int
}
