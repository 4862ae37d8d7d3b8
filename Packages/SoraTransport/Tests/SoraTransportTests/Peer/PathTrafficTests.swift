import SoraICE
import SoraMedia
import SoraTransport
import SoraWire
import Testing

/// What is put down to which pair, while paths change and sockets lose.
@Suite struct PathTrafficTests {
  /// Sends nothing; says what its sockets have lost.
  private final class LossySink: DatagramSink {
    var discards: [TransportAddress: UInt64] = [:]

    func send(
      from local: TransportAddress, to remote: TransportAddress, ecn: ECNCodepoint, capacity: Int,
      _ write: (UnsafeMutableRawBufferPointer) -> Int
    ) {}

    func packetsDiscarded(from local: TransportAddress) -> UInt64 { discards[local] ?? 0 }
  }

  private let first = TransportAddress("10.0.0.1:1000")!
  private let second = TransportAddress("10.0.0.2:1000")!
  private let peer = TransportAddress("10.0.0.9:1000")!
  private let ice = ICEAgent(
    configuration: ICEAgent.Configuration(isControlling: true), random: RandomSource(seed: 1))
  private let sink = LossySink()

  init() {
    let other = ICEAgent(
      configuration: ICEAgent.Configuration(isControlling: false), random: RandomSource(seed: 2))
    for base in [first, second] { _ = ice.addLocalCandidate(base: base) }
    ice.setRemoteParameters(other.localParameters)
    ice.addRemoteCandidate(other.addLocalCandidate(base: peer))
  }

  private func traffic(on local: TransportAddress) throws -> ICEPairTraffic {
    try #require(ice.meter(on: local, from: peer)).traffic
  }

  private func path(from local: TransportAddress) -> Path {
    Path(local: local, remote: peer, relay: nil)
  }

  @Test func packetsArePutDownToTheirPair() throws {
    let traffic = PathTraffic()
    traffic.countSent(100)
    #expect(traffic.path == nil)
    traffic.advance(to: .zero + .seconds(2))
    traffic.advance(to: .zero + .seconds(1))
    traffic.select(path(from: first), in: ice, over: sink)
    traffic.countSent(10)
    traffic.countReceived(20, from: peer, on: second, in: ice)
    traffic.countReceived(20, from: peer, on: second, in: ice)
    traffic.countReceived(20, from: peer, on: first, in: ice)
    traffic.select(path(from: second), in: ice, over: sink)
    traffic.countSent(11)
    #expect(try self.traffic(on: first).bytesSent == 10)
    #expect(try self.traffic(on: first).packetsReceived == 1)
    #expect(try self.traffic(on: first).lastPacketSent == .zero + .seconds(2))
    #expect(try self.traffic(on: second).bytesSent == 11)
    #expect(try self.traffic(on: second).bytesReceived == 40)
    traffic.forgetPath(over: sink)
    traffic.countSent(12)
    #expect(try traffic.path == nil && self.traffic(on: second).packetsSent == 1)
  }

  @Test func aPairHasWhatItsSocketLostWhileItWasInUse() throws {
    let traffic = PathTraffic()
    sink.discards = [first: 5, second: 7]
    traffic.select(path(from: first), in: ice, over: sink)
    sink.discards = [first: 8, second: 9]
    traffic.select(path(from: second), in: ice, over: sink)
    #expect(try self.traffic(on: first).packetsDiscardedOnSend == 3)
    sink.discards = [first: 20, second: 10]
    traffic.settleDiscards(over: sink)
    #expect(try self.traffic(on: second).packetsDiscardedOnSend == 1)
    sink.discards[second] = 12
    traffic.forgetPath(over: sink)
    traffic.settleDiscards(over: sink)
    #expect(try self.traffic(on: second).packetsDiscardedOnSend == 3)
    #expect(try self.traffic(on: first).packetsDiscardedOnSend == 3)
  }

  @Test func candidatesOfABaseThatIsGoneStayMarked() throws {
    var candidates = LocalCandidates(policy: .all)
    let host = ice.addLocalCandidate(base: first)
    candidates.add(host, from: nil)
    candidates.add(ice.addLocalCandidate(base: second), from: nil)
    candidates.add(
      try ICECandidate(
        parsing: "candidate:7 1 udp 1 192.0.2.1 9 typ srflx raddr 10.0.0.1 rport 1000"), from: nil)
    candidates.baseIsGone(first)
    #expect(candidates.gathered.map(\.isGone) == [true, false, true])
  }
}
