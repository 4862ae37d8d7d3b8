import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraSRTP
import SoraTransport
import Testing
import WebRTC

/// ICE restarts while a call runs, in virtual time.
@Suite(.timeLimit(.minutes(5))) struct CoreRestartTests {
  /// What must be the same after a restart as before.
  private struct Identity: Equatable {
    var sent: [UInt32]
    var received: [UInt32]
    var keys: [SRTPKeyingMaterial?]

    init(_ party: CoreParty) {
      sent = party.core.session.sendStreams.map(\.parameters.ssrc)
      received = party.core.session.receiveStreams.map(\.ssrc).sorted()
      let session = party.core.transport.session
      keys = [session?.localKeyingMaterial, session?.remoteKeyingMaterial]
    }
  }

  private struct Outcome {
    var digest: UInt64
    var freezes: [Duration]
    /// The selected pairs, first that of who restarted.
    var pairs: [ICEPair?]
  }

  private func ufrag(_ party: CoreParty) -> String? {
    (party.core.localDescription.flatMap { try? SessionDescription(parsing: $0) })?
      .media.first?.attribute("ice-ufrag")
  }

  /// A call of six seconds, something that happens, and five seconds more.
  private func call(
    seed: UInt64, byCaller: Bool, _ happens: (CorePair, CoreParty) -> Void
  ) throws -> Outcome {
    let pair = CorePair(
      seed: seed,
      LinkConditions(delay: .milliseconds(25), jitter: .milliseconds(4), loss: 0.01))
    try pair.negotiate()
    pair.network.run(for: .seconds(6))
    let parties = [pair.caller, pair.callee]
    let before = parties.map(Identity.init)
    let frames = parties.map(\.frames.count)
    let ufrags = parties.map(ufrag)
    let (one, two) = byCaller ? (pair.caller, pair.callee) : (pair.callee, pair.caller)
    happens(pair, one)
    // What tells the application, and signaling.
    pair.network.run(for: .milliseconds(150))
    one.core.restartICE(at: pair.network.now)
    try pair.negotiate(from: one, to: two)
    pair.network.run(for: .seconds(5))
    for (index, party) in parties.enumerated() {
      let label = "seed \(seed), \(party.name)"
      #expect(ufrag(party) != ufrags[index] && ufrag(party) != nil, "\(label)")
      #expect(party.core.transport.state == .connected, "\(label)")
      #expect(party.core.transport.ice.state == .completed, "\(label)")
      #expect(Identity(party) == before[index], "\(label)")
      #expect(before[index].sent.count == 2 && before[index].keys[0] != nil)
      #expect(party.damaged == 0, "\(label)")
      #expect(party.frames.count > frames[index] + 110, "\(label)")
      let dropped = party.core.transport.statistics.dropped
      #expect(dropped.unauthenticated == 0 && dropped.beforeKeys == 0, "\(label) \(dropped)")
      #expect(!party.states.contains { if case .failed = $0.0 { true } else { false } })
    }
    #expect(pair.network.overduePolls == 0, "seed \(seed): a deadline stayed in the past")
    return Outcome(
      digest: pair.network.log.digest,
      freezes: parties.map { PartyOutcome($0).longestFreeze },
      pairs: [one, two].map(\.core.transport.ice.selectedPair))
  }

  /// New credentials on the old way: nothing of it is seen.
  @Test(arguments: [true, false]) func aRestartIsNotSeen(byCaller: Bool) throws {
    for seed in 1...5 as ClosedRange<UInt64> {
      let outcome = try call(seed: seed, byCaller: byCaller) { _, _ in }
      #expect(outcome.freezes.allSatisfy { $0 < .milliseconds(300) }, "\(seed) \(outcome)")
    }
  }

  /// The address goes, and its signaling says so: media moves to the new one with the keys and sources it had.
  @Test(arguments: [true, false])
  func aRestartFollowsAnotherAddress(byCaller: Bool) throws {
    var longest = Duration.zero
    for seed in 1...10 as ClosedRange<UInt64> {
      var moved: (CoreParty, TransportAddress, old: ICEPair?)?
      let outcome = try call(seed: seed, byCaller: byCaller) { pair, party in
        let old = party.core.transport.ice.selectedPair
        let new = pair.move(party, to: IPAddress(byCaller ? "10.1.0.77" : "10.2.0.77")!)
        moved = (party, new, old)
      }
      let (party, new, old) = try #require(moved)
      #expect(outcome.pairs[0]?.local == new && old?.local != new, "seed \(seed)")
      #expect(outcome.pairs[1]?.remote == new, "seed \(seed)")
      // The new description doesn't name what is gone.
      #expect(party.core.localDescription?.contains("\(new.ip) \(new.port)") == true)
      #expect(
        old.map { party.core.localDescription?.contains("\($0.local.ip) ") } == false,
        "seed \(seed)")
      longest = max(longest, outcome.freezes.max() ?? .zero)
    }
    #expect(longest < .seconds(1))
    print(
      "address and restart by the \(byCaller ? "caller" : "callee"): longest freeze \(longest.inMilliseconds) ms"
    )
  }

  @Test func aSeedRunsTheSameWayTwice() throws {
    let digests = try (1...2).map { _ in
      try call(seed: 3, byCaller: true) { pair, party in
        _ = pair.move(party, to: IPAddress("10.1.0.77")!)
      }.digest
    }
    #expect(digests[0] == digests[1])
  }

  /// An offer with new credentials that is never answered costs nothing: the old way goes on.
  @Test func anOfferThatIsNeverAnsweredIsNotSeen() throws {
    let pair = CorePair(seed: 4, LinkConditions(delay: .milliseconds(25)))
    try pair.negotiate()
    pair.network.run(for: .seconds(3))
    pair.caller.core.restartICE(at: pair.network.now)
    let offer = try pair.caller.core.createOffer()
    try pair.caller.core.setLocalDescription(
      .offer, offer, addresses: [pair.caller.address], at: pair.network.now)
    pair.network.run(for: .seconds(40))
    for party in [pair.caller, pair.callee] {
      #expect(party.core.transport.state == .connected)
      #expect(PartyOutcome(party).longestFreeze < .milliseconds(200))
    }
  }
}
