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
