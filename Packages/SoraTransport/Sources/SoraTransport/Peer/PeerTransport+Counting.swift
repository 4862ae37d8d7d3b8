public import SoraICE
public import SoraMedia

/// A pair that packets come over, and what counts them; nil for none of the agent's pairs.
struct ReceivingPair {
  let version: Int
  let local: TransportAddress
  let remote: TransportAddress
  let meter: ICEPairMeter?
}

/// Counting by pair, and the time that goes with it.
extension PeerTransport {
  /// Tells the time to what is sent next. `receive` and `poll` do so too.
  @inline(__always)
  public func advance(to now: Instant) { if now > latest { latest = now } }

  /// Every pair with what went over it.
  public var pairStatistics: [ICEPairStatistics] {
    settleDiscards()
    return ice.pairStatistics
  }

  @inline(__always)
  func countSent(_ bytes: Int) {
    statistics.countSent(bytes)
    statistics.packetsSent &+= 1
    statistics.packetBytesSent &+= UInt64(bytes)
    meter?.countSent(bytes, at: latest)
  }

  @inline(__always)
  func noteFirstPacket() {
    if statistics.firstPacketSent == nil { statistics.firstPacketSent = latest }
  }

  @inline(__always)
  func countReceived(_ bytes: Int, from remote: TransportAddress, on local: TransportAddress) {
    statistics.packetsReceived &+= 1
    statistics.packetBytesReceived &+= UInt64(bytes)
    // One packet's pair is the next one's, nearly always.
    if let pair = lastReceived, pair.version == ice.pairsVersion, pair.remote == remote,
      pair.local == local
    {
      pair.meter?.countReceived(bytes, at: latest)
    } else {
      findPair(from: remote, on: local)?.countReceived(bytes, at: latest)
    }
  }

  private func findPair(
    from remote: TransportAddress, on local: TransportAddress
  ) -> ICEPairMeter? {
    let meter = ice.meter(on: local, from: remote)
    lastReceived = ReceivingPair(
      version: ice.pairsVersion, local: local, remote: remote, meter: meter)
    return meter
  }

  /// Sends on another path from now on.
  func select(_ path: Path) {
    settleDiscards()
    meter = nil
    selected = path
    discardsKnown = sendingBase.map { sink.packetsDiscarded(from: $0) } ?? 0
    renewMeter()
  }

  /// A restart puts another pair with the same addresses in the place of the one in use.
  func renewMeter() {
    meterVersion = ice.pairsVersion
    guard let selected else { return }
    let other = ice.meter(on: selected.local, from: selected.remote)
    guard other !== meter else { return }
    settleDiscards()
    meter = other
  }

  /// The socket that the selected path's datagrams leave from.
  private var sendingBase: TransportAddress? {
    guard let selected else { return nil }
    guard let relay = selected.relay else { return selected.local }
    return relay.base
  }

  /// Puts down to the selected pair what its socket has lost meanwhile.
  func settleDiscards() {
    guard let base = sendingBase, let meter else { return }
    let discards = sink.packetsDiscarded(from: base)
    if discards > discardsKnown {
      meter.traffic.packetsDiscardedOnSend &+= discards - discardsKnown
    }
    discardsKnown = discards
  }
}
