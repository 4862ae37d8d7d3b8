public import SoraMedia

/// What went over one candidate pair beside ICE's own messages: DTLS and SRTP. The names are W3C's.
public struct ICEPairTraffic: Sendable, Hashable {
  public var packetsSent: UInt64 = 0
  public var packetsReceived: UInt64 = 0
  /// Bytes of what is inside the datagrams, and inside a relay's messages.
  public var bytesSent: UInt64 = 0
  public var bytesReceived: UInt64 = 0
  public var lastPacketSent: Instant?
  public var lastPacketReceived: Instant?
  /// Packets that the socket or the kernel didn't take while the pair was in use.
  public var packetsDiscardedOnSend: UInt64 = 0

  public init() {}
}

/// Counts a pair's traffic, for whoever sends and receives: found once a pair, not once a packet. Confined as its agent is.
public final class ICEPairMeter {
  @safe @exclusivity(unchecked) public var traffic = ICEPairTraffic()

  init() {}

  @inlinable
  public func countSent(_ bytes: Int, at now: Instant) {
    traffic.packetsSent &+= 1
    traffic.bytesSent &+= UInt64(bytes)
    traffic.lastPacketSent = now
  }

  @inlinable
  public func countReceived(_ bytes: Int, at now: Instant) {
    traffic.packetsReceived &+= 1
    traffic.bytesReceived &+= UInt64(bytes)
    traffic.lastPacketReceived = now
  }
}
