import SoraMedia
import SoraSRTP
import Testing

/// How many SSRCs a session keeps, and what becomes of the others.
@Suite struct StreamLimitTests {
  /// Sends a packet, which is to arrive as it was.
  ///
  /// - Returns: the protected packet.
  @discardableResult
  private func pass(
    _ packet: [UInt8], from sender: SRTPSession, to receiver: SRTPSession
  ) throws -> [UInt8] {
    let protected = try sender.run(.protectRTP, packet).get()
    try #require(receiver.run(.unprotectRTP, protected).judgement == .accepted(packet))
    return protected
  }

  /// Those that are in use together.
  @Test(arguments: SessionTests.combinations)
  func streamsBeyondTheLimitAreRefusedAndCounted(
    profile: SRTPProfile, implementation: SRTPSession.Implementation
  ) throws {
    let (sender, receiver) = try makeSessions(
      profile, implementation, implementation, maximumStreams: 100)
    let random = RandomSource(seed: 2)
    // Forgeries don't take places.
    for ssrc in 5_000..<5_200 as Range<UInt32> {
      let forged = makeRTP(sequence: 1, ssrc: ssrc, random: random, payload: 50)
      #expect(receiver.run(.unprotectRTP, forged).judgement == .refused(.authenticationFailed))
    }
    for ssrc in 0..<100 as Range<UInt32> {
      let packet = makeRTP(sequence: 1, ssrc: ssrc &* 65_536, random: random)
      let protected = try sender.run(.protectRTP, packet).get()
      #expect(try receiver.run(.unprotectRTP, protected).get() == packet)
    }
    // What is sent is of our own choice: it goes out.
    let extra = try sender.run(
      .protectRTP, makeRTP(sequence: 1, ssrc: 99_999_999, random: random)
    ).get()
    #expect(receiver.run(.unprotectRTP, extra).judgement == .refused(.tooManyStreams(limit: 100)))
    let report = try sender.run(.protectRTCP, makeRTCP(ssrc: 99_999_999, random: random)).get()
    #expect(receiver.run(.unprotectRTCP, report).judgement == .refused(.tooManyStreams(limit: 100)))
    #expect(receiver.statistics.streamsRefused == 2)
    // The others go on.
    let packet = makeRTP(sequence: 2, ssrc: 3 * 65_536, random: random)
    let again = try sender.run(.protectRTP, packet).get()
    #expect(try receiver.run(.unprotectRTP, again).get() == packet)
  }

  /// As a viewer's whose publishers come and go for days.
  @Test(arguments: SessionTests.combinations)
  func anyNumberOfStreamsFollowOneAnother(
    profile: SRTPProfile, implementation: SRTPSession.Implementation
  ) throws {
    let (sender, receiver) = try makeSessions(profile, .evp, implementation)
    let random = RandomSource(seed: 4)
    for ssrc in 0..<1_500 as Range<UInt32> {
      for sequence in 0..<20 as Range<UInt16> {
        let packet = makeRTP(sequence: sequence, ssrc: ssrc, random: random, payload: 10)
        try pass(packet, from: sender, to: receiver)
      }
    }
    #expect(receiver.statistics.streamsRefused == 0)
    // Of what was sent nothing is forgotten.
    let first = makeRTP(sequence: 0, ssrc: 0, random: random)
    #expect(sender.run(.protectRTP, first).judgement == .refused(.replayed))
  }

  /// The one that was silent longest goes, and what comes back begins anew; nobody else notices.
  @Test(arguments: SessionTests.combinations)
  func theLongestSilentGivesWay(
    profile: SRTPProfile, implementation: SRTPSession.Implementation
  ) throws {
    let (sender, receiver) = try makeSessions(
      profile, .evp, implementation, maximumStreams: 4)
    let random = RandomSource(seed: 5)
    func accept(_ ssrc: UInt32, _ sequence: UInt16) throws -> [UInt8] {
      try pass(
        makeRTP(sequence: sequence, ssrc: ssrc, random: random), from: sender, to: receiver)
    }
    let first = try (1...4).map { try accept($0, 1) }
    // 2 speaks by RTCP alone, and 1 not at all.
    var last: [[UInt8]] = []
    for sequence in 2..<62 as Range<UInt16> {
      last = [try accept(3, sequence), try accept(4, sequence)]
      let report = makeRTCP(ssrc: 2, random: random)
      let control = try sender.run(.protectRTCP, report).get()
      try #require(receiver.run(.unprotectRTCP, control).judgement == .accepted(report))
    }
    _ = try accept(5, 1)
    for packet in first[1...] + last {
      #expect(receiver.run(.unprotectRTP, packet).judgement == .refused(.replayed))
    }
    // Each was heard of late, and so was 5: there is no place for 1.
    let waiting = try sender.run(
      .protectRTP, makeRTP(sequence: 2, ssrc: 1, random: random)
    ).get()
    #expect(receiver.run(.unprotectRTP, waiting).judgement == .refused(.tooManyStreams(limit: 4)))
    // Once 5 has been silent it goes, and 1 is as one that was never heard: also its first packet is.
    for sequence in 62..<84 as Range<UInt16> {
      last = [try accept(3, sequence), try accept(4, sequence)]
      _ = try accept(2, sequence)
    }
    #expect(throws: Never.self) { try receiver.run(.unprotectRTP, waiting).get() }
    #expect(throws: Never.self) { try receiver.run(.unprotectRTP, first[0]).get() }
    for packet in [waiting] + first + last {
      #expect(receiver.run(.unprotectRTP, packet).judgement == .refused(.replayed))
    }
    #expect(receiver.statistics.streamsRefused == 1)
  }

  /// Where all places are taken by those that have just ended.
  @Test(arguments: SessionTests.combinations)
  func newStreamsArentRefusedForEver(
    profile: SRTPProfile, implementation: SRTPSession.Implementation
  ) throws {
    let (sender, receiver) = try makeSessions(
      profile, .evp, implementation, maximumStreams: 4)
    let random = RandomSource(seed: 6)
    var refused: Set<UInt32> = []
    for sequence in 0..<30 as Range<UInt16> {
      for ssrc in 0..<4 as Range<UInt32> {
        try pass(
          makeRTP(sequence: sequence, ssrc: ssrc, random: random), from: sender, to: receiver)
      }
    }
    for sequence in 0..<30 as Range<UInt16> {
      refused = []
      for ssrc in 4..<8 as Range<UInt32> {
        let packet = makeRTP(sequence: sequence, ssrc: ssrc, random: random)
        let protected = try sender.run(.protectRTP, packet).get()
        if case .refused = receiver.run(.unprotectRTP, protected).judgement { refused.insert(ssrc) }
      }
    }
    #expect(refused.isEmpty)
    #expect(receiver.statistics.streamsRefused > 0)
  }

  /// More of them than are known at once; who has ended makes room.
  @Test func anyNumberOfSourcesMayBeSentOneAfterTheOther() throws {
    let (sender, receiver) = try makeSessions(.aeadAES128GCM, .evp, .evp)
    let random = RandomSource(seed: 8)
    for ssrc in 0..<70_000 as Range<UInt32> {
      let packet = makeRTP(sequence: 7, ssrc: ssrc, random: random, payload: 10)
      let protected = try sender.run(.protectRTP, packet).get()
      if ssrc % 1_000 == 0 {
        try #require(receiver.run(.unprotectRTP, protected).judgement == .accepted(packet))
      }
      sender.forgetSent(ssrc)
    }
    sender.forgetSent(70_001)
    #expect(sender.sentSourceCount == 0 && sender.statistics.streamsRefused == 0)
  }

  /// RTCP may still name a source that is forgotten: its indices go on, so that no key stream is used twice.
  @Test(arguments: SessionTests.combinations)
  func reportsOfForgottenSourcesGoOn(
    profile: SRTPProfile, implementation: SRTPSession.Implementation
  ) throws {
    let (sender, receiver) = try makeSessions(profile, implementation, .evp)
    let random = RandomSource(seed: 9)
    func report(_ ssrc: UInt32) throws {
      let packet = makeRTCP(ssrc: ssrc, random: random)
      let protected = try sender.run(.protectRTCP, packet).get()
      #expect(receiver.run(.unprotectRTCP, protected).judgement == .accepted(packet))
    }
    for _ in 0..<5 { try report(1) }
    for _ in 0..<3 { try report(2) }
    for ssrc in [1, 2] as [UInt32] { sender.forgetSent(ssrc) }
    for ssrc in [1, 2, 3] as [UInt32] { try report(ssrc) }
  }
}
