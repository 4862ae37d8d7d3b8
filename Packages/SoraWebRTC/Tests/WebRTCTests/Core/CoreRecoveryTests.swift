import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraSRTP
import SoraTransport
import Testing
import WebRTC

/// ICE fails while a call runs, and a restart leads out of it (W3C: `failed`, `connecting`, `connected`).
@Suite(.timeLimit(.minutes(2))) struct CoreRecoveryTests {
  private func keys(_ party: CoreParty) -> [SRTPKeyingMaterial?] {
    let session = party.core.transport.session
    return [session?.localKeyingMaterial, session?.remoteKeyingMaterial]
  }

  private func isFailure(_ state: PeerTransportState) -> Bool {
    if case .failed = state { true } else { false }
  }

  /// A call whose link dies for a minute. The offer with the restart comes from the caller or the callee, so that each side has seen
  /// its own restart and its peer's.
  private func call(seed: UInt64, byCaller: Bool) throws -> (freeze: Duration, digest: UInt64) {
    let label = "seed \(seed), by the \(byCaller ? "caller" : "callee")"
    let pair = CorePair(
      seed: seed,
      LinkConditions(delay: .milliseconds(25), jitter: .milliseconds(4), loss: 0.01))
    try pair.negotiate()
    pair.network.run(for: .seconds(5))
    let parties = [pair.caller, pair.callee]
    let before = parties.map(keys)
    let sources = parties.map { $0.core.session.sendStreams.map(\.parameters.ssrc) }
    #expect(before.allSatisfy { $0[0] != nil })
    pair.link.setUp(false)
    pair.network.run(for: .seconds(60))
    for party in parties {
      #expect(
        party.states.map(\.0) == [
          .connecting, .connected, .disconnected, .failed(.consentLost),
        ], "\(label) \(party.states)")
    }
    pair.link.setUp(true)
    pair.network.run(for: .seconds(3))
    #expect(!parties.contains { $0.core.transport.isWritable }, "\(label): nobody asked")
    let frames = parties.map(\.frames.count)
    let (one, two) = byCaller ? (pair.caller, pair.callee) : (pair.callee, pair.caller)
    one.core.restartICE(at: pair.network.now)
    let began = pair.network.now
    try pair.negotiate(from: one, to: two, answerDelay: .milliseconds(50))
    pair.network.run(for: .seconds(6))
    var freeze = Duration.zero
    for (index, party) in parties.enumerated() {
      #expect(
        party.states.map(\.0) == [
          .connecting, .connected, .disconnected, .failed(.consentLost), .connecting, .connected,
        ], "\(label) \(party.states)")
      #expect(party.core.transport.ice.state == .completed, "\(label)")
      #expect(keys(party) == before[index], "\(label)")
      #expect(
        party.core.session.sendStreams.map(\.parameters.ssrc) == sources[index], "\(label)")
      #expect(party.damaged == 0, "\(label)")
      #expect(party.frames.count > frames[index] + 140, "\(label)")
      if let first = party.frames[safe: frames[index]] { freeze = max(freeze, first.shown - began) }
    }
    #expect(pair.network.overduePolls == 0, "\(label)")
    return (freeze, pair.network.log.digest)
  }

  @Test(arguments: [true, false]) func aMinuteWithoutALink(byCaller: Bool) throws {
    var slowest = Duration.zero
    for seed in 1...4 as ClosedRange<UInt64> {
      slowest = max(slowest, try call(seed: seed, byCaller: byCaller).freeze)
    }
    print(
      "restart by the \(byCaller ? "caller" : "callee") after a minute without a link: pictures after \(slowest.inMilliseconds) ms"
    )
    #expect(slowest < .seconds(1.5))
  }

  @Test func aSeedRunsTheSameWayTwice() throws {
    let digests = try (1...2).map { _ in try call(seed: 4, byCaller: true).digest }
    #expect(digests[0] == digests[1])
  }

  /// Nothing ever got through: the handshake has its turn after the restart.
  @Test(arguments: [true, false]) func whatNeverConnectedConnects(byCaller: Bool) throws {
    for seed in 1...3 as ClosedRange<UInt64> {
      let pair = CorePair(seed: seed, LinkConditions(delay: .milliseconds(25)))
      pair.link.setUp(false)
      try pair.negotiate()
      pair.network.run(for: .seconds(40))
      let parties = [pair.caller, pair.callee]
      for party in parties {
        #expect(party.states.count == 2 && party.states.last.map { isFailure($0.0) } == true)
      }
      pair.link.setUp(true)
      let (one, two) = byCaller ? (pair.caller, pair.callee) : (pair.callee, pair.caller)
      one.core.restartICE(at: pair.network.now)
      try pair.negotiate(from: one, to: two, answerDelay: .milliseconds(50))
      pair.network.run(for: .seconds(2))
      for party in parties {
        #expect(party.states.suffix(2).map(\.0) == [.connecting, .connected], "\(party.states)")
        #expect(party.frames.count > 30)
      }
    }
  }

  /// The way dies in the middle of the handshake.
  @Test func aHandshakeThatWasCutOffGoesOn() throws {
    for seed in 1...3 as ClosedRange<UInt64> {
      let pair = CorePair(seed: seed, LinkConditions(delay: .milliseconds(40)))
      try pair.negotiate()
      // A pair is selected, and the first flight is under way.
      #expect(
        pair.network.run(
          until: { pair.caller.core.transport.ice.selectedPair != nil }, within: .seconds(1)))
      pair.link.setUp(false)
      pair.network.run(for: .seconds(30))
      #expect(pair.caller.states.map(\.0) == [.connecting, .failed(.consentLost)])
      pair.link.setUp(true)
      pair.caller.core.restartICE(at: pair.network.now)
      try pair.negotiate(answerDelay: .milliseconds(50))
      pair.network.run(for: .seconds(4))
      for party in [pair.caller, pair.callee] {
        #expect(party.core.transport.state == .connected, "seed \(seed) \(party.states)")
        #expect(party.frames.count > 30, "seed \(seed)")
      }
    }
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
