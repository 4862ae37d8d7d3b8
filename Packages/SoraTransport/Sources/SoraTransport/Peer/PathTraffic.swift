package import SoraICE
package import SoraMedia

/// The path in use, and what goes over each candidate pair (webrtc-stats, `RTCIceCandidatePairStats`).
///
/// The agent's meters are looked up when its pairs change, and not for each packet. A class: packets use it, and as one it needs no checks
/// for overlapping access. Confined to its transport.
package final class PathTraffic {
  /// The path that packets leave over.
  private struct Sending {
    let path: Path
    var meter: ICEPairMeter?
    /// What the path's socket had lost when that was last asked.
    var discards: UInt64
  }

  /// The pair that a packet came over last; without a meter for none of the agent's pairs.
  private struct Receiving {
    let version: Int
    let local: TransportAddress
    let remote: TransportAddress
    let meter: ICEPairMeter?
  }

  /// The newest time that anybody told.
  package private(set) var latest = Instant.zero
  @safe @exclusivity(unchecked) private var sending: Sending?
  private var receiving: Receiving?
  /// The agent's pairs that the meter of what is sent belongs to.
  private var version = 0

  package init() {}

  package var path: Path? { sending?.path }

  @inline(__always)
  package func advance(to now: Instant) { if now > latest { latest = now } }

  // MARK: Packets

  @inline(__always)
  package func countSent(_ bytes: Int) { sending?.meter?.countSent(bytes, at: latest) }

  @inline(__always)
  package func countReceived(
    _ bytes: Int, from remote: TransportAddress, on local: TransportAddress, in ice: ICEAgent
  ) {
    // One packet's pair is the next one's, nearly always.
    if let receiving, receiving.version == ice.pairsVersion, receiving.remote == remote,
      receiving.local == local
    {
      receiving.meter?.countReceived(bytes, at: latest)
    } else {
      findMeter(from: remote, on: local, in: ice)?.countReceived(bytes, at: latest)
    }
  }

  private func findMeter(
    from remote: TransportAddress, on local: TransportAddress, in ice: ICEAgent
  ) -> ICEPairMeter? {
    let meter = ice.meter(on: local, from: remote)
    receiving = Receiving(version: ice.pairsVersion, local: local, remote: remote, meter: meter)
    return meter
  }

  // MARK: Paths

  /// Sends on another path from now on.
  package func select(_ path: Path, in ice: ICEAgent, over sink: any DatagramSink) {
    settleDiscards(over: sink)
    sending = Sending(
      path: path, meter: ice.meter(on: path.local, from: path.remote),
      discards: path.socket.map { sink.packetsDiscarded(from: $0) } ?? 0)
    version = ice.pairsVersion
  }

  /// A restart puts another pair with the same addresses in the place of the one in use.
  package func pairsMayHaveChanged(in ice: ICEAgent, over sink: any DatagramSink) {
    guard version != ice.pairsVersion else { return }
    version = ice.pairsVersion
    guard let sending else { return }
    let meter = ice.meter(on: sending.path.local, from: sending.path.remote)
    guard meter !== sending.meter else { return }
    settleDiscards(over: sink)
    self.sending?.meter = meter
  }

  /// Sends nothing from now on.
  package func forgetPath(over sink: any DatagramSink) {
    settleDiscards(over: sink)
    sending = nil
    receiving = nil
  }

  /// Puts down to the pair in use what its socket has lost meanwhile.
  package func settleDiscards(over sink: any DatagramSink) {
    guard let sending, let meter = sending.meter, let socket = sending.path.socket else { return }
    let discards = sink.packetsDiscarded(from: socket)
    if discards > sending.discards {
      meter.traffic.packetsDiscardedOnSend &+= discards - sending.discards
    }
    self.sending?.discards = discards
  }
}
