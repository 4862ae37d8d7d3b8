import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import Testing
import WebRTC

/// Two peer connections without sockets, threads, clocks or codecs call each other through a simulated network.
@Suite(.timeLimit(.minutes(5))) struct CoreCallTests {
  @Test func aMinuteOverALossyLinkNeverFreezesAndRepeatsItself() throws {
    let first = try call(seed: 21)
    let second = try call(seed: 21)
    #expect(first.log == second.log, "one seed, one run")
    #expect(first.digest == second.digest)
    let other = try call(seed: 22)
    #expect(other.digest != first.digest)
    // Hash tables are seeded anew in each process: compare this line between two of them.
    print("seed 21: \(first.log.count) events, digest \(String(first.digest, radix: 16))")
    for outcome in [first, other] {
      for party in outcome.parties {
        print(party.summary)
        #expect(party.longestFreeze <= .milliseconds(500))
        #expect(party.framesReceived >= party.framesSent - 15)
        #expect(party.damaged == 0)
        #expect(party.audioReceived > party.audioSent * 95 / 100)
        #expect(party.retransmissions > 20)
        #expect(party.roundTrip > .milliseconds(80) && party.roundTrip < .milliseconds(150))
      }
      #expect(outcome.overduePolls == 0, "a deadline stayed in the past")
    }
  }

  @Test func aVanishedPeerEndsTheCallOnce() throws {
    let pair = CorePair(seed: 5, LinkConditions(delay: .milliseconds(30)))
    try pair.negotiate()
    pair.network.run(for: .seconds(3))
    #expect(pair.caller.core.transport.state == .connected)
    let vanished = pair.network.now
    pair.link.forwardConditions.isUp = false
    pair.link.backwardConditions.isUp = false
    pair.network.run(for: .seconds(20))
    for party in [pair.caller, pair.callee] {
      let failures = party.states.filter { $0.0 == .failed(.consentLost) }
      #expect(failures.count == 1)
      #expect(try #require(failures.first).1 - vanished <= .seconds(5.2))
      #expect(party.core.nextDeadline == nil)
      #expect(party.core.framesNotSent > 0, "what can't be sent is counted")
    }
  }

  @Test func aCallOutlivesALinkThatIsGoneForLessThanItsConsentLasts() throws {
    let pair = CorePair(
      seed: 6, LinkConditions(delay: .milliseconds(30)), consentTimeout: .seconds(12))
    try pair.negotiate()
    pair.network.run(for: .seconds(3))
    pair.link.setUp(false)
    pair.network.run(for: .seconds(10))
    for party in [pair.caller, pair.callee] {
      #expect(party.core.transport.state == .disconnected)
    }
    pair.link.setUp(true)
    pair.network.run(for: .seconds(2))
    for party in [pair.caller, pair.callee] {
      #expect(party.core.transport.state == .connected)
    }
    // Longer than it lasts.
    pair.link.setUp(false)
    pair.network.run(for: .seconds(13))
    for party in [pair.caller, pair.callee] {
      #expect(party.states.filter { $0.0 == .failed(.consentLost) }.count == 1)
    }
  }

  @Test func checksThatComeBeforeTheAnswerMeetNoConflictOfRoles() throws {
    let pair = CorePair(seed: 8, LinkConditions(delay: .milliseconds(5)))
    try pair.negotiate(answerDelay: .milliseconds(40))
    #expect(pair.callee.core.transport.ice.selectedPair != nil, "before the answer has arrived")
    pair.network.run(for: .seconds(1))
    for party in [pair.caller, pair.callee] {
      #expect(party.core.transport.state == .connected)
      #expect(party.core.transport.ice.statistics.roleConflicts == 0)
      #expect(party.core.transport.ice.isControlling == (party === pair.caller))
    }
  }

  @Test func closingSaysGoodbye() throws {
    let pair = CorePair(seed: 6, LinkConditions(delay: .milliseconds(30)))
    try pair.negotiate()
    pair.network.run(for: .seconds(3))
    pair.caller.core.close(at: pair.network.now)
    pair.network.deadlinesChanged()
    pair.network.run(for: .seconds(1))
    #expect(pair.caller.states.last?.0 == .closed)
    #expect(pair.callee.states.last?.0 == .failed(.closedByPeer))
    #expect(pair.callee.core.session.receiveStreams.isEmpty, "BYE came first")
  }

  @Test func aStreamThatIsTakenAwayStops() throws {
    let pair = CorePair(seed: 7, LinkConditions(delay: .milliseconds(30)))
    try pair.negotiate()
    pair.network.run(for: .seconds(3))
    #expect(pair.callee.core.session.receiveStreams.count == 2)
    let video = try #require(
      pair.caller.core.negotiator.transceivers.first { $0.kind == .video })
    pair.caller.core.negotiator.removeTrack(of: video)
    try pair.negotiate()
    let frames = pair.callee.frames.count
    pair.network.run(for: .seconds(2))
    #expect(pair.callee.core.session.receiveStreams.map(\.kind) == [.audio])
    #expect(pair.callee.frames.count <= frames + 3)
    #expect(pair.caller.core.sendStreams(transceiverID: video.id).isEmpty)
    // The other way goes on.
    let before = pair.caller.frames.count
    pair.network.run(for: .seconds(1))
    #expect(pair.caller.frames.count >= before + 28)
  }

  private struct Outcome {
    var digest: UInt64
    var log: [String]
    var parties: [PartyOutcome]
    var overduePolls: Int
  }

  private func call(seed: UInt64) throws -> Outcome {
    let pair = CorePair(
      seed: seed,
      LinkConditions(delay: .milliseconds(50), jitter: .milliseconds(10), loss: 0.02))
    try pair.negotiate()
    pair.network.run(for: .seconds(60))
    return Outcome(
      digest: pair.network.log.digest, log: pair.network.log.lines,
      parties: [pair.caller, pair.callee].map(PartyOutcome.init),
      overduePolls: pair.network.overduePolls)
  }
}

/// What a party has to show after a call.
struct PartyOutcome {
  let name: String
  let framesSent: Int
  let framesReceived: Int
  let damaged: Int
  let audioSent: Int
  let audioReceived: Int
  let retransmissions: UInt64
  let longestFreeze: Duration
  let roundTrip: Duration
  let bitrate: Int

  init(_ party: CoreParty) {
    name = party.name
    framesSent = Int(party.peer?.framesSent ?? 0)
    framesReceived = party.frames.count
    damaged = party.damaged
    audioSent = Int(party.peer?.audioSent ?? 0)
    audioReceived = party.audioReceived
    let video = party.core.session.sendStreams.first { $0.parameters.kind == .video }
    retransmissions = video?.statistics.retransmittedPacketsSent ?? 0
    roundTrip = video?.remote.roundTrip ?? .zero
    bitrate = party.core.session.estimatedBitrate
    var longest = Duration.zero
    for (one, next) in zip(party.frames, party.frames.dropFirst()) {
      longest = max(longest, next.shown - one.shown)
    }
    longestFreeze = longest
  }

  var summary: String {
    "\(name): \(framesReceived)/\(framesSent) frames, longest freeze \(longestFreeze.inMilliseconds) ms, "
      + "\(audioReceived)/\(audioSent) sounds, \(retransmissions) resent, round trip "
      + "\(roundTrip.inMilliseconds) ms, estimate \(bitrate / 1000) kbit/s"
  }
}
