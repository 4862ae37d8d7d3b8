import SoraICE
import SoraWire

extension CandidatePair {
  /// A pair of a port of ours and one of the peer's.
  static func sample(
    _ port: UInt16 = 1, to remotePort: UInt16 = 1, priority: UInt32 = 1000,
    state: ICEPairState = .waiting
  ) -> CandidatePair {
    let pair = CandidatePair(
      local: .sample(port), remote: .sample(remotePort, priority: priority), isControlling: true)
    pair.state = state
    return pair
  }
}

extension LocalCandidate {
  static func sample(_ port: UInt16) -> LocalCandidate {
    let address = TransportAddress("10.0.0.1:\(port)")!
    let candidate = try! ICECandidate(
      parsing: "candidate:1 1 udp 2130706431 10.0.0.1 \(port) typ host")
    return LocalCandidate(
      candidate: candidate, base: ICEBase(address: address), localPreference: 1, server: nil)
  }
}

extension RemoteCandidate {
  static func sample(_ port: UInt16, priority: UInt32) -> RemoteCandidate {
    RemoteCandidate(
      try! ICECandidate(parsing: "candidate:1 1 udp \(priority) 10.0.0.2 \(port) typ host"),
      address: TransportAddress("10.0.0.2:\(port)")!)
  }
}
