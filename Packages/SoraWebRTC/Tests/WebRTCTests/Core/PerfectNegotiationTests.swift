import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraTransport
import Testing
import WebRTC

/// Offers that cross, as W3C's "perfect negotiation" example has them (WebRTC §10.7): the polite side takes its own back, the other
/// one doesn't listen.
@Suite(.timeLimit(.minutes(2))) struct PerfectNegotiationTests {
  /// A party with the example's handlers, and signaling that takes its time.
  private final class Negotiator {
    let party: CoreParty
    let isPolite: Bool
    private let network: SimulatedNetwork
    private let delay: Duration
    weak var other: Negotiator?
    private(set) var needs = 0
    private(set) var ignored = 0
    private(set) var errors: [any Error] = []
    /// What was sent, with its credentials.
    private(set) var sent: [(kind: DescriptionKind, ufrag: String?)] = []
    /// Whether offers that are wanted aren't made.
    var holdsBack = false

    init(_ party: CoreParty, isPolite: Bool, _ network: SimulatedNetwork, delay: Duration) {
      self.party = party
      self.isPolite = isPolite
      self.network = network
      self.delay = delay
      party.onNegotiationNeeded = { [unowned self] in
        needs += 1
        // A task of its own, as events of the W3C's are.
        network.after(.zero) { [weak self] _ in self?.offer() }
      }
    }

    private func attempt(_ body: () throws -> Void) {
      do { try body() } catch { errors.append(error) }
      network.deadlinesChanged()
    }

    private func offer() {
      guard party.core.negotiator.signalingState == .stable, !holdsBack else { return }
      attempt {
        let offer = try party.core.createOffer()
        try set(.offer, offer)
      }
    }

    private func set(_ kind: DescriptionKind, _ sdp: String) throws {
      try party.core.setLocalDescription(
        kind, sdp, addresses: [party.address], at: network.now)
      let text = party.core.localDescription ?? sdp
      sent.append((kind, PerfectNegotiationTests.ufrag(party)))
      network.after(delay) { [weak other] _ in other?.receive(kind, text) }
    }

    private func receive(_ kind: DescriptionKind, _ sdp: String) {
      let crosses = kind == .offer && party.core.negotiator.signalingState != .stable
      if crosses, !isPolite {
        ignored += 1
        return
      }
      attempt {
        try party.core.setRemoteDescription(kind, sdp, at: network.now)
        if kind == .offer { try set(.answer, try party.core.createAnswer()) }
      }
    }
  }

  private struct World {
    let pair: CorePair
    let caller: Negotiator
    let callee: Negotiator

    init(seed: UInt64, politeCaller: Bool, loss: Double = 0.01) {
      pair = CorePair(
        seed: seed, LinkConditions(delay: .milliseconds(25), jitter: .milliseconds(4), loss: loss))
      let delay = Duration.milliseconds(40)
      caller = Negotiator(pair.caller, isPolite: politeCaller, pair.network, delay: delay)
      callee = Negotiator(pair.callee, isPolite: !politeCaller, pair.network, delay: delay)
      caller.other = callee
      callee.other = caller
    }

    var parties: [CoreParty] { [pair.caller, pair.callee] }
    var all: [Negotiator] { [caller, callee] }
    func of(_ isPolite: Bool) -> Negotiator { caller.isPolite == isPolite ? caller : callee }

    /// The caller offers, and there is a call.
    func connect() {
      caller.party.core.updateNegotiationNeeded(at: pair.network.now)
      pair.network.run(for: .seconds(4))
    }

    /// Both sides agree on what both use, and no pair of another generation is left.
    func check(_ label: String) {
      for (one, two) in [(pair.caller, pair.callee), (pair.callee, pair.caller)] {
        let (ours, theirs) = (one.core.transport.ice, two.core.transport.ice)
        #expect(one.core.negotiator.signalingState == .stable, "\(label)")
        #expect(ours.remoteParameters == theirs.localParameters, "\(label)")
        #expect(ufrag(one) == ours.localParameters.ufrag, "\(label)")
        #expect(ours.state == .completed, "\(label) \(one.name) \(ours.state)")
        #expect(ours.selectedPair?.remote == theirs.selectedPair?.local, "\(label)")
        let selected = one.core.transport.pairStatistics.filter(\.isSelected)
        #expect(selected.count == 1 && selected[0].state == .succeeded, "\(label) \(selected)")
        #expect(one.core.transport.state == .connected, "\(label)")
        #expect(!one.core.negotiator.isNegotiationNeeded, "\(label)")
        #expect(one.damaged == 0, "\(label)")
      }
      #expect(all.allSatisfy { $0.errors.isEmpty }, "\(label) \(all.map(\.errors))")
    }
  }

  private static func ufrag(_ party: CoreParty) -> String? {
    (party.core.localDescription.flatMap { try? SessionDescription(parsing: $0) })?
      .media.first?.iceUfrag
  }

  private static func add(_ party: CoreParty, _ name: String, at now: Instant) {
    party.core.negotiator.addTrack(.audio, trackID: name, streamIDs: [name])
    party.core.updateNegotiationNeeded(at: now)
  }

  /// Our restart's offer and the peer's plain offer cross; who restarts is polite or not, caller or callee.
  @Test(arguments: [true, false], [true, false])
  func aRestartCrossesAPlainOffer(politeCaller: Bool, politeRestarts: Bool) throws {
    var freeze = Duration.zero
    for seed in 1...4 as ClosedRange<UInt64> {
      let label =
        "seed \(seed), polite caller \(politeCaller), restart by the polite \(politeRestarts)"
      let world = World(seed: seed, politeCaller: politeCaller)
      let network = world.pair.network
      world.connect()
      world.check(label)
      let before = world.parties.map(Self.ufrag)
      let told = world.all.map(\.needs)
      let frames = world.parties.map(\.frames.count)
      let restarts = world.of(politeRestarts)
      let plain = world.of(!politeRestarts)
      restarts.party.core.restartICE(at: network.now)
      Self.add(plain.party, "more", at: network.now)
      let sent = restarts.sent.count
      network.run(for: .seconds(5))
      // The polite side takes its offer back, answers with the credentials that are in force, and offers others once more.
      let own = before[restarts === world.caller ? 0 : 1]
      #expect(
        restarts.sent[sent...].map(\.kind)
          == (politeRestarts ? [.offer, .answer, .offer] : [.offer, .answer]),
        "\(label)")
      if politeRestarts { #expect(restarts.sent[sent + 1].ufrag == own, "\(label)") }
      #expect(restarts.sent[sent].ufrag != own && restarts.sent.last?.ufrag != own, "\(label)")
      world.check(label)
      for (index, party) in world.parties.enumerated() {
        #expect(Self.ufrag(party) != before[index], "\(label): both have new ones")
        #expect(party.frames.count > frames[index] + 140, "\(label)")
        #expect(!party.states.contains { $0.0 == .disconnected }, "\(label)")
      }
      #expect(world.of(false).ignored == 1 && world.of(true).ignored == 0, "\(label)")
      // Once for what each wanted, and once more for what the polite side took back.
      for (index, negotiator) in world.all.enumerated() {
        #expect(negotiator.needs == told[index] + (negotiator.isPolite ? 2 : 1), "\(label)")
      }
      // The track that was added came through as well.
      let sounds = world.parties.map { $0.core.media.count { $0.kind == .audio } }
      #expect(sounds == [2, 2], "\(label)")
      freeze = max(freeze, world.parties.map { PartyOutcome($0).longestFreeze }.max() ?? .zero)
    }
    #expect(freeze < .milliseconds(400), "\(freeze)")
  }

  /// Both restart at once: one exchange is enough for both.
  @Test(arguments: [true, false]) func twoRestartsCross(politeCaller: Bool) throws {
    for seed in 1...4 as ClosedRange<UInt64> {
      let label = "seed \(seed), polite caller \(politeCaller)"
      let world = World(seed: seed, politeCaller: politeCaller)
      let network = world.pair.network
      world.connect()
      let before = world.parties.map(Self.ufrag)
      let told = world.all.map(\.needs)
      for party in world.parties { party.core.restartICE(at: network.now) }
      network.run(for: .seconds(5))
      world.check(label)
      for (index, party) in world.parties.enumerated() {
        #expect(Self.ufrag(party) != before[index], "\(label)")
        #expect(!party.states.contains { $0.0 == .disconnected }, "\(label)")
      }
      #expect(world.all.map(\.needs) == told.map { $0 + 1 }, "\(label)")
    }
  }

  /// Both have failed, and both ask for a restart at once.
  @Test(arguments: [true, false]) func restartsOutOfAFailureCross(politeCaller: Bool) throws {
    for seed in 1...4 as ClosedRange<UInt64> {
      let label = "seed \(seed), polite caller \(politeCaller)"
      let world = World(seed: seed, politeCaller: politeCaller)
      let network = world.pair.network
      world.connect()
      world.pair.link.setUp(false)
      network.run(for: .seconds(20))
      world.pair.link.setUp(true)
      for party in world.parties { party.core.restartICE(at: network.now) }
      network.run(for: .seconds(5))
      world.check(label)
    }
  }

  /// The first offers of all cross too.
  @Test(arguments: [true, false]) func theFirstOffersCross(politeCaller: Bool) throws {
    for seed in 1...4 as ClosedRange<UInt64> {
      let label = "seed \(seed), polite caller \(politeCaller)"
      let world = World(seed: seed, politeCaller: politeCaller)
      for party in world.parties { party.core.updateNegotiationNeeded(at: world.pair.network.now) }
      world.pair.network.run(for: .seconds(4))
      world.check(label)
      #expect(
        world.parties.allSatisfy { $0.core.transport.ice.statistics.roleConflicts == 0 }, "\(label)"
      )
    }
  }

  /// An offer with a restart that was made and not applied, that was refused, and that was rolled back: the credentials in force stay,
  /// and the wish too.
  @Test func whatComesToNothingLeavesTheWish() throws {
    let world = World(seed: 1, politeCaller: true)
    let network = world.pair.network
    let (caller, callee) = (world.pair.caller, world.pair.callee)
    caller.core.updateNegotiationNeeded(at: network.now)
    network.run(for: .seconds(3))
    world.caller.holdsBack = true
    let told = world.caller.needs
    let before = caller.core.transport.ice.localParameters
    caller.core.restartICE(at: network.now)
    caller.core.restartICE(at: network.now)
    #expect(world.caller.needs == told + 1)

    let unused = try caller.core.createOffer()
    #expect(try SessionDescription(parsing: unused).media[0].iceUfrag != before.ufrag)
    #expect(caller.core.transport.ice.localParameters == before)
    #expect(throws: NegotiationError.self) {
      try caller.core.setLocalDescription(
        .offer, "v=0", addresses: [caller.address], at: network.now)
    }
    #expect(caller.core.transport.ice.localParameters == before)

    // The peer's plain offer comes first: its answer has the credentials that are in force.
    Self.add(callee, "more", at: network.now)
    network.run(for: .seconds(1))
    #expect(caller.core.transport.ice.localParameters == before)
    #expect(Self.ufrag(caller) == before.ufrag)
    #expect(world.caller.needs == told + 2, "stable, and still wanted")

    // Applied, heard of by nobody, and taken back.
    let offer = try caller.core.createOffer()
    try caller.core.setLocalDescription(
      .offer, offer, addresses: [caller.address], at: network.now)
    #expect(caller.core.transport.ice.localParameters != before)
    network.run(for: .seconds(20))
    #expect(throws: NegotiationError.self) {
      try caller.core.setRemoteDescription(.answer, "v=0", at: network.now)
    }
    try caller.core.rollback(at: network.now)
    #expect(caller.core.transport.ice.localParameters == before)
    #expect(caller.core.transport.ice.state == .completed)
    #expect(world.caller.needs == told + 3)

    world.caller.holdsBack = false
    try world.pair.negotiate()
    network.run(for: .seconds(2))
    world.check("after all")
    #expect(caller.core.transport.ice.localParameters != before)
    #expect(world.caller.needs == told + 3, "nothing is wanted any more")
    for party in world.parties {
      #expect(PartyOutcome(party).longestFreeze < .milliseconds(300))
    }
  }

  /// The peer takes its restart back: its next offer has the credentials of before.
  @Test func aPeersRestartIsTakenBack() throws {
    let pair = CorePair(seed: 2, LinkConditions(delay: .milliseconds(25)))
    try pair.negotiate()
    pair.network.run(for: .seconds(2))
    let before = pair.callee.core.transport.ice.localParameters
    pair.caller.core.restartICE(at: pair.network.now)
    let offer = try pair.caller.core.createOffer()
    try pair.caller.core.setLocalDescription(
      .offer, offer, addresses: [pair.caller.address], at: pair.network.now)
    try pair.callee.core.setRemoteDescription(.offer, offer, at: pair.network.now)
    #expect(pair.callee.core.transport.ice.localParameters != before)
    pair.network.run(for: .seconds(1))
    try pair.caller.core.rollback(at: pair.network.now)
    try pair.callee.core.rollback(at: pair.network.now)
    #expect(pair.callee.core.transport.ice.localParameters == before)
    pair.network.run(for: .seconds(20))
    for party in [pair.caller, pair.callee] {
      #expect(party.states.map(\.0) == [.connecting, .connected])
      #expect(party.core.transport.ice.state == .completed)
      #expect(PartyOutcome(party).longestFreeze < .milliseconds(200))
    }
  }
}
