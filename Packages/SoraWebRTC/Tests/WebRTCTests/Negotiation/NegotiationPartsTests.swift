import SoraMedia
import SoraSDP
import Testing
import WebRTC

/// What the application is told of the peer's tracks.
@Suite struct RemoteTracksTests {
  private let negotiator = Fixture.negotiator(seed: 1)

  private func names(_ events: [NegotiationEvent]) -> [String] {
    events.map { event in
      switch event {
      case .trackAdded(let item, let ids): "+\(item.id) \(ids.joined(separator: ","))"
      case .trackRemoved(let item, let ids): "-\(item.id) \(ids.joined(separator: ","))"
      case .streamAdded(let id): "+stream \(id)"
      case .streamRemoved(let id): "-stream \(id)"
      default: "other"
      }
    }
  }

  @Test func aStreamIsAnnouncedBehindItsTracksAndTakenBackBehindThem() {
    let audio = negotiator.addTransceiver(.audio)
    let video = negotiator.addTransceiver(.video)
    let both = [
      RemoteTrack(transceiver: audio, trackID: "a", streamIDs: ["s"]),
      RemoteTrack(transceiver: video, trackID: "v", streamIDs: ["s", "t"]),
    ]
    var tracks = RemoteTracks()
    var events = tracks.update(to: both)
    #expect(names(events) == ["+0 s", "+1 s,t", "+stream s", "+stream t"])
    events = tracks.update(to: both)
    #expect(names(events).isEmpty)
    events = tracks.update(to: [])
    #expect(names(events) == ["-0 s", "-1 s,t", "-stream s", "-stream t"])
  }

  @Test func onlyTheDifferenceIsTold() {
    let audio = negotiator.addTransceiver(.audio)
    var tracks = RemoteTracks()
    _ = tracks.update(to: [RemoteTrack(transceiver: audio, trackID: "a", streamIDs: ["s"])])
    var events = tracks.update(
      to: [RemoteTrack(transceiver: audio, trackID: "a", streamIDs: ["s", "t"])])
    #expect(names(events) == ["+0 t", "+stream t"])
    // Another track takes the place of the first.
    events = tracks.update(
      to: [RemoteTrack(transceiver: audio, trackID: "b", streamIDs: ["s", "t"])])
    #expect(names(events) == ["-0 s,t", "+0 s,t"])
  }
}

/// Who is the client of DTLS, and who controls ICE.
@Suite struct TransportRolesTests {
  private func offer(_ setup: SDPSetup?) -> SessionDescription {
    var description = SessionDescription(origin: SDPOrigin(sessionID: "1", version: 1))
    var section = MediaDescription(kind: "audio", port: 9, proto: "", formats: [])
    if let setup { section.append(attribute: "setup", setup.rawValue) }
    description.media = [section]
    return description
  }

  @Test func anAnswerKeepsTheRoleThatIsSettled() throws {
    var roles = TransportRoles()
    #expect(try roles.answer(to: offer(.actpass), preferred: .active) == .active)
    #expect(try roles.answer(to: offer(nil), preferred: .passive) == .passive)
    roles.settle(setup: .passive, isOfferer: true)
    #expect(try roles.answer(to: offer(.actpass), preferred: .active) == .passive)
    // An exchange that says nothing of roles leaves them.
    roles.settle(setup: nil, isOfferer: false)
    #expect(roles.setup == .passive)
    #expect(try roles.answer(to: offer(.passive), preferred: .passive) == .active)
    #expect(throws: NegotiationError.unusableSetup("holdconn")) {
      try roles.answer(to: offer(.holdconn), preferred: .active)
    }
    #expect(throws: NegotiationError.unusableSetup("actpass")) {
      try TransportRoles.opposite(of: .actpass)
    }
  }

  @Test func theFirstOffererControlsUnlessOneSideIsLite() {
    var roles = TransportRoles()
    roles.settle(setup: .active, isOfferer: true)
    roles.settle(setup: .active, isOfferer: false)
    #expect(roles.isControlling(isLite: false, isPeerLite: false))
    #expect(!roles.isControlling(isLite: true, isPeerLite: false))
    var answerer = TransportRoles()
    answerer.settle(setup: .active, isOfferer: false)
    #expect(!answerer.isControlling(isLite: false, isPeerLite: false))
    #expect(answerer.isControlling(isLite: false, isPeerLite: true))
  }
}

/// What we make up.
@Suite struct LocalIdentifiersTests {
  @Test func noSSRCIsZeroOrGivenTwice() {
    var numbers: [UInt64] = [0, 0, 5, 5, 1 << 32 | 5, 6]
    let random = RandomSource { numbers.isEmpty ? 7 : numbers.removeFirst() }
    // The CNAME takes the first two.
    var identifiers = LocalIdentifiers(random: random)
    let given = (0..<3).map { _ in identifiers.makeSSRC() }
    #expect(given == [5, 6, 7])
  }

  @Test func eachDescriptionHasAHigherVersionOfOneSession() {
    var origin = SessionOrigin(random: RandomSource { .max })
    let lines = [origin.next(), origin.next()]
    #expect(lines.map(\.sessionID) == [String](repeating: "4611686018427387903", count: 2))
    #expect(lines[1].version == lines[0].version + 1)
  }
}

/// Numbers that mean one thing in the whole session.
@Suite struct RTPSessionNumbersTests {
  private func description(formats: [String], extensions: [SDPExtension]) -> SessionDescription {
    var description = SessionDescription(origin: SDPOrigin(sessionID: "1", version: 1))
    var section = MediaDescription(
      kind: "video", port: 9, proto: "UDP/TLS/RTP/SAVPF", formats: formats)
    for item in extensions { section.append(item) }
    description.media = [section]
    return description
  }

  @Test func numbersOfThePeerAreNotGivenToAnythingElse() {
    var numbers = RTPSessionNumbers()
    let free = numbers.codecs([.vp8]).map(\.payloadType)
    var other = RTPSessionNumbers()
    other.learn(
      description(
        formats: free.map { "\($0)" }, extensions: [SDPExtension(id: 1, uri: "urn:theirs")]))
    let given = other.codecs([.vp8]).map(\.payloadType)
    #expect(given.count == 2 && Set(given).isDisjoint(with: free))
    #expect(other.extensions(["urn:ours", "urn:theirs"]).map(\.id) == [2, 1])
  }

  @Test func aCodecHasTheSameNumbersInEachSection() {
    var numbers = RTPSessionNumbers()
    let first = numbers.codecs([.vp8])
    #expect(numbers.codecs([.vp8]) == first && first.map(\.name) == ["VP8", "rtx"])
    // Twice in one section it can't have the same.
    let twice = numbers.codecs([.vp8, .vp8]).map(\.payloadType)
    #expect(Set(twice).count == 4)
  }

  @Test func extensionsEndWithTheOneByteRange() {
    var numbers = RTPSessionNumbers()
    let uris = (0..<20).map { "urn:\($0)" }
    #expect(numbers.extensions(uris).map(\.id) == Array(1...14))
  }
}

/// Which section is whose.
@Suite struct MediaSectionsTests {
  private func section(_ kind: String, mid: String? = nil, port: UInt16 = 9) -> MediaDescription {
    var section = MediaDescription(kind: kind, port: port, proto: "UDP/TLS/RTP/SAVPF", formats: [])
    if let mid { section.append(attribute: "mid", mid) }
    return section
  }

  private func offer(_ media: MediaDescription...) -> SessionDescription {
    var description = SessionDescription(origin: SDPOrigin(sessionID: "1", version: 1))
    description.media = media
    return description
  }

  @Test func aTransceiverLosesItsSectionToAnother() {
    let negotiator = Fixture.negotiator(seed: 1)
    let first = negotiator.addTransceiver(.video)
    let second = negotiator.addTransceiver(.video)
    var sections = MediaSections()
    sections.set(0, to: section("video"), mid: "a", use: .media(first))
    // Once more the same displaces nobody.
    sections.set(0, to: section("video"), mid: "a", use: .media(first))
    #expect(first.mid == "a" && first.mLineIndex == 0)
    let before = sections
    sections.set(0, to: section("video"), mid: "b", use: .media(second))
    #expect(first.mid == nil && second.mid == "b")
    var displaced = sections.takeDisplaced()
    #expect(displaced.map(\.id) == [first.id])
    displaced = sections.takeDisplaced()
    #expect(displaced.isEmpty)
    #expect(before[0]?.mid == "a" && before[0]?.transceiver === first)
  }

  @Test func anOfferContinuesTheSectionsThereAre() throws {
    var sections = MediaSections()
    sections.set(0, to: section("application"), mid: "0", use: .data)
    #expect(sections.hasData)
    try sections.check(offer(section("application", mid: "0"), section("audio", mid: "1")))
    #expect(throws: NegotiationError.self) { try sections.check(offer()) }
    #expect(throws: NegotiationError.self) { try sections.check(offer(section("audio", mid: "0"))) }
    #expect(throws: NegotiationError.duplicateMid("x")) {
      try sections.check(offer(section("application", mid: "x"), section("audio", mid: "x")))
    }
    // What both sides have given up may become anything.
    sections.free(0)
    try sections.check(offer(section("audio", mid: "0")))
    var mids = sections.mids
    let given = [mids.next(), mids.next()]
    #expect(given == ["1", "2"])
  }
}

/// What is in force, what is under way, and what may be set when.
@Suite struct DescriptionExchangeTests {
  private let before = RollbackPoint(
    sections: MediaSections(), numbers: RTPSessionNumbers(), transceivers: [])

  private func description(_ version: UInt64, mids: [String] = ["0"]) -> SessionDescription {
    var description = SessionDescription(origin: SDPOrigin(sessionID: "1", version: version))
    description.media = mids.map { mid in
      var section = MediaDescription(kind: "audio", port: 9, proto: "", formats: [])
      section.append(attribute: "mid", mid)
      return section
    }
    return description
  }

  private func allowed(_ exchange: DescriptionExchange) -> [String] {
    var result: [String] = []
    for side in [DescriptionExchange.Side.local, .remote] {
      for kind in [DescriptionKind.offer, .answer] {
        guard (try? exchange.checkSetting(kind, of: side)) != nil else { continue }
        result.append("\(side) \(kind.rawValue)")
      }
    }
    return result
  }

  @Test func eachStateAllowsItsDescriptions() {
    var exchange = DescriptionExchange()
    #expect(exchange.signalingState == .stable)
    #expect(allowed(exchange) == ["local offer", "remote offer"])
    exchange.begin(.local, description(1), rollback: before)
    #expect(exchange.signalingState == .haveLocalOffer)
    #expect(allowed(exchange) == ["local offer", "remote offer", "remote answer"])
    _ = exchange.rollBack()
    exchange.begin(.remote, description(1), rollback: before)
    #expect(exchange.signalingState == .haveRemoteOffer)
    #expect(allowed(exchange) == ["local answer", "remote offer"])
    exchange.close()
    #expect(exchange.signalingState == .closed && allowed(exchange).isEmpty)
    // What was described can still be read.
    #expect(exchange.remote == description(1))
  }

  @Test func aRollbackLeavesWhatIsInForce() throws {
    var exchange = DescriptionExchange()
    let negotiator = Fixture.negotiator(seed: 1)
    negotiator.addTrack(.audio, trackID: "a", streamIDs: [])
    try Fixture.exchange(negotiator, Fixture.negotiator(seed: 2))
    let session = try #require(negotiator.session)
    exchange.begin(.local, description(1), rollback: before)
    exchange.complete(
      local: description(1), remote: description(2), isLocalOffer: true, session: session)
    #expect(exchange.localKind == .offer && exchange.remoteKind == .answer)
    exchange.begin(.remote, description(3), rollback: before)
    #expect(exchange.local == description(1) && exchange.remote == description(3))
    #expect(exchange.remoteKind == .offer)
    // A candidate is for the description under way, and goes with it.
    #expect(try exchange.addRemoteCandidate("candidate:1", mid: "0", mLineIndex: nil))
    #expect(exchange.remote?.media[0].candidates.count == 1)
    #expect(exchange.inForce?.remote == description(2))
    var point = exchange.rollBack()
    #expect(point != nil && exchange.remote == description(2))
    #expect(exchange.signalingState == .stable && exchange.inForce?.session == session)
    point = exchange.rollBack()
    #expect(point == nil)
  }

  @Test func onlyTheDescriptionThatWasMadeLastIsSet() throws {
    var exchange = DescriptionExchange()
    #expect(throws: NegotiationError.self) { try exchange.uses(of: .offer, description(1)) }
    exchange.create(.offer, description(1), uses: [.free])
    #expect(try exchange.uses(of: .offer, description(1)).count == 1)
    #expect(throws: NegotiationError.self) { try exchange.uses(of: .answer, description(1)) }
    #expect(throws: NegotiationError.self) {
      try exchange.uses(of: .offer, description(1, mids: ["1"]))
    }
    exchange.begin(.local, description(1), rollback: before)
    #expect(throws: NegotiationError.self) { try exchange.uses(of: .offer, description(1)) }
  }
}
