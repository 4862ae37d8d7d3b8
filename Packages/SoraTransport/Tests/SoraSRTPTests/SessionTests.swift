import SoraMedia
import SoraSRTP
import Testing

@Suite struct SessionTests {
  static let combinations = SRTPProfile.allCases.flatMap { profile in
    SRTPSession.Implementation.allCases.map { (profile, $0) }
  }

  @Test(arguments: combinations)
  func forgeriesAndReplaysAreRefused(
    profile: SRTPProfile, implementation: SRTPSession.Implementation
  ) throws {
    let (sender, receiver) = try makeSessions(profile, implementation, implementation)
    let random = RandomSource(seed: 2)
    let packet = makeRTP(sequence: 100, random: random)
    let protected = try sender.run(.protectRTP, packet).get()
    var forged = protected
    forged[forged.count - 1] ^= 1
    #expect(receiver.run(.unprotectRTP, forged).judgement == .refused(.authenticationFailed))
    #expect(receiver.run(.unprotectRTP, protected).judgement == .accepted(packet))
    #expect(receiver.run(.unprotectRTP, protected).judgement == .refused(.replayed))
    // Sequence numbers aren't used twice either: under GCM that would give the authentication key away.
    #expect(sender.run(.protectRTP, packet).judgement == .refused(.replayed))
    #expect(receiver.statistics.packetsUnprotected == 1)
    #expect(receiver.statistics.authenticationFailures == 1)
    #expect(receiver.statistics.replays == 1)
    #expect(sender.statistics.packetsProtected == 1)

    let report = makeRTCP(random: random)
    let control = try sender.run(.protectRTCP, report).get()
    forged = control
    forged[9] ^= 0x40
    if forged.count > 40 {
      #expect(receiver.run(.unprotectRTCP, forged).judgement == .refused(.authenticationFailed))
    }
    #expect(receiver.run(.unprotectRTCP, control).judgement == .accepted(report))
    #expect(receiver.run(.unprotectRTCP, control).judgement == .refused(.replayed))
    forged = control
    forged[control.count - (profile == .aes128CMSHA1_80 ? 14 : 4)] &= 0x7F
    #expect(receiver.run(.unprotectRTCP, forged).judgement == .refused(.malformed))
  }

  /// A packet that is sent again is the same in every byte; one that hasn't left, or is too old to know, isn't sent again.
  @Test(arguments: SRTPProfile.allCases)
  func aPacketIsRepeatedAsItWas(profile: SRTPProfile) throws {
    let (sender, receiver) = try makeSessions(profile, .evp, .evp, replayWindow: 64)
    let random = RandomSource(seed: 3)
    let packets = (65_530..<65_600).map {
      makeRTP(sequence: UInt16(truncatingIfNeeded: $0), random: random)
    }
    func again(_ packet: [UInt8]) -> Result<[UInt8], SRTPError> {
      var room = [UInt8](repeating: 0, count: packet.count + 32)
      return packet.withUnsafeBytes { source in
        room.withUnsafeMutableBytes { target in
          Result { () throws(SRTPError) in
            Array(target[..<(try sender.protectRTPAgain(from: source, into: target))])
          }
        }
      }
    }
    #expect(again(packets[0]) == .failure(.neverProtected))
    let first = try packets[..<60].map { try sender.run(.protectRTP, $0).get() }
    for (packet, protected) in zip(packets, first) { #expect(try again(packet).get() == protected) }
    #expect(again(packets[60]) == .failure(.neverProtected))
    #expect(
      receiver.run(.unprotectRTP, try again(packets[5]).get()).judgement == .accepted(packets[5]))
    for packet in packets[60...] { _ = try sender.run(.protectRTP, packet).get() }
    #expect(again(packets[0]) == .failure(.tooOld))
    #expect(again([1, 2, 3]) == .failure(.malformed))
  }

  @Test(arguments: combinations)
  func packetsOlderThanTheWindowAreRefused(
    profile: SRTPProfile, implementation: SRTPSession.Implementation
  ) throws {
    let (sender, receiver) = try makeSessions(
      profile, implementation, implementation, replayWindow: 64)
    let random = RandomSource(seed: 2)
    let packets = try (1000..<1065).map {
      try sender.run(.protectRTP, makeRTP(sequence: $0, random: random)).get()
    }
    _ = try receiver.run(.unprotectRTP, packets[64]).get()
    #expect(receiver.run(.unprotectRTP, packets[0]).judgement == .refused(.tooOld))
    _ = try receiver.run(.unprotectRTP, packets[1]).get()
  }

  @Test(arguments: combinations)
  func shortBuffersAndBytesAreRefused(
    profile: SRTPProfile, implementation: SRTPSession.Implementation
  ) throws {
    let (session, _) = try makeSessions(profile, implementation, implementation)
    let random = RandomSource(seed: 2)
    let packet = makeRTP(sequence: 1, random: random, payload: 30)
    let report = makeRTCP(random: random)
    #expect(
      session.run(.protectRTP, packet, room: profile.rtpOverhead - 1).judgement
        == .refused(.bufferTooSmall(needed: packet.count + profile.rtpOverhead)))
    #expect(
      session.run(.protectRTCP, report, room: profile.rtcpOverhead - 1).judgement
        == .refused(.bufferTooSmall(needed: report.count + profile.rtcpOverhead)))
    #expect(
      try session.run(.protectRTP, packet, room: profile.rtpOverhead).get().count
        == packet.count + profile.rtpOverhead)
    #expect(
      try session.run(.protectRTCP, report, room: profile.rtcpOverhead).get().count
        == report.count + profile.rtcpOverhead)
    #expect(
      session.protectedLent(packet, room: profile.rtpOverhead - 1)
        == .failure(.bufferTooSmall(needed: packet.count + profile.rtpOverhead)))
    for header in [0, 11, packet.count - 31, packet.count - 29] {
      #expect(session.protectedLent(packet, header: header) == .failure(.malformed))
    }
    for operation in Operation.allCases {
      for count in 0..<12 {
        #expect(
          session.run(operation, Array(packet[..<min(count, 7)])).judgement == .refused(.malformed))
      }
      #expect(
        session.run(operation, [0x40] + packet[1...]).judgement == .refused(.malformed),
        "version 1")
    }
  }

  @Test func keysOfTheWrongLengthAreRefused() {
    let material = SRTPKeyingMaterial(
      key: [UInt8](repeating: 0, count: 16), salt: [UInt8](repeating: 0, count: 12))
    #expect(throws: SRTPError.invalidSaltLength(expected: 14, actual: 12)) {
      try SRTPSession(profile: .aes128CMSHA1_80, local: material, remote: material)
    }
    #expect(throws: SRTPError.invalidKeyLength(expected: 32, actual: 16)) {
      try SRTPSession(profile: .aeadAES256GCM, local: material, remote: material)
    }
    #expect("\(material)" == "SRTPKeyingMaterial(16+12 bytes)")
  }
}
