public import SoraICE
public import SoraMedia

/// Counting by pair, and the time that goes with it.
extension PeerTransport {
  /// Tells the time to what is sent next. `receive` and `poll` do so too.
  @inline(__always)
  public func advance(to now: Instant) { traffic.advance(to: now) }

  /// Every pair with what went over it.
  public var pairStatistics: [ICEPairStatistics] {
    traffic.settleDiscards(over: sink)
    return ice.pairStatistics
  }

  @inline(__always)
  func countSent(_ bytes: Int) {
    counters.countSent(bytes)
    counters.packetsSent &+= 1
    counters.packetBytesSent &+= UInt64(bytes)
    traffic.countSent(bytes)
  }

  @inline(__always)
  func noteFirstPacket() {
    if counters.firstPacketSent == nil { counters.firstPacketSent = traffic.latest }
  }

  @inline(__always)
  func countReceived(_ bytes: Int, from remote: TransportAddress, on local: TransportAddress) {
    counters.packetsReceived &+= 1
    counters.packetBytesReceived &+= UInt64(bytes)
    traffic.countReceived(bytes, from: remote, on: local, in: ice)
  }
}
