import SoraMedia
import SoraSRTP
import Testing

/// libsrtp is the oracle: both implementations must write the same bytes and judge the same way.
@Suite struct DifferentialTests {
  @Test(arguments: SRTPProfile.allCases, [0, 65_000, 32_760] as [UInt16])
  func rtpAgreesPacketForPacket(profile: SRTPProfile, start: UInt16) throws {
    let (evpSender, evpReceiver) = try makeSessions(profile, .evp, .evp)
    let (libSender, libReceiver) = try makeSessions(profile, .libsrtp, .libsrtp)
    let (copySender, _) = try makeSessions(profile, .evp, .evp)
    let (libCopySender, _) = try makeSessions(profile, .libsrtp, .libsrtp)
    let (lentSender, _) = try makeSessions(profile, .evp, .evp)
    let (libLentSender, _) = try makeSessions(profile, .libsrtp, .libsrtp)
    let random = RandomSource(seed: UInt64(start) + 7)
    var sequences: [UInt32: UInt32] = [1: UInt32(start), 0xFFFF_FFFF: 5, 77: 40_000]
    let ssrcs = sequences.keys.sorted()
    var held: [[UInt8]] = []
    for _ in 0..<3_000 {
      let ssrc = ssrcs[Int(random.next() % 3)]
      // Gaps, sometimes large ones; never half a cycle at once, which nobody can follow.
      let gap = random.next() % 50 == 0 ? UInt32(random.next() % 9_000) : UInt32(random.next() % 3)
      let next = sequences[ssrc]! + 1 + gap
      sequences[ssrc] = next
      let packet = makeRTP(
        sequence: UInt16(truncatingIfNeeded: next), ssrc: ssrc, random: random)
      let expected = try libSender.run(.protectRTP, packet).get()
      #expect(try evpSender.run(.protectRTP, packet).get() == expected)
      #expect(try copySender.copyProtected(packet).get() == expected)
      #expect(try libCopySender.copyProtected(packet).get() == expected)
      #expect(try lentSender.protectedLent(packet).get() == expected)
      #expect(try libLentSender.protectedLent(packet).get() == expected)
      switch random.next() % 10 {
      case 0: continue  // lost
      case 1: held.append(expected)  // late
      default:
        #expect(try evpReceiver.run(.unprotectRTP, expected).get() == packet)
        #expect(try libReceiver.run(.unprotectRTP, expected).get() == packet)
      }
      if random.next() % 8 == 0, !held.isEmpty {
        // Late ones may be within the window, beyond it, or from before a rollover; often twice.
        let late = held[Int(random.next() % UInt64(held.count))]
        #expect(
          evpReceiver.run(.unprotectRTP, late).judgement
            == libReceiver.run(.unprotectRTP, late).judgement)
      }
    }
    #expect(sequences.values.contains { $0 > 0x10000 }, "the sequences should have wrapped")
    #expect(evpReceiver.statistics == libReceiver.statistics)
    #expect(evpReceiver.statistics.replays > 0)
  }

  @Test(arguments: SRTPProfile.allCases)
  func rtcpAgreesPacketForPacket(profile: SRTPProfile) throws {
    let (evpSender, evpReceiver) = try makeSessions(profile, .evp, .evp)
    let (libSender, libReceiver) = try makeSessions(profile, .libsrtp, .libsrtp)
    let random = RandomSource(seed: 11)
    var held: [[UInt8]] = []
    for _ in 0..<2_000 {
      let packet = makeRTCP(ssrc: UInt32(random.next() % 3), random: random)
      let expected = try libSender.run(.protectRTCP, packet).get()
      #expect(try evpSender.run(.protectRTCP, packet).get() == expected)
      switch random.next() % 10 {
      case 0: continue
      case 1: held.append(expected)
      default:
        #expect(try evpReceiver.run(.unprotectRTCP, expected).get() == packet)
        #expect(try libReceiver.run(.unprotectRTCP, expected).get() == packet)
      }
      if random.next() % 8 == 0, !held.isEmpty {
        let late = held[Int(random.next() % UInt64(held.count))]
        #expect(
          evpReceiver.run(.unprotectRTCP, late).judgement
            == libReceiver.run(.unprotectRTCP, late).judgement)
      }
    }
    #expect(evpReceiver.statistics == libReceiver.statistics)
    #expect(evpReceiver.statistics.tooOld > 0)
  }

  @Test(arguments: SRTPProfile.allCases)
  func randomOrderIsJudgedAlike(profile: SRTPProfile) throws {
    let (sender, evpReceiver) = try makeSessions(profile, .evp, .evp, replayWindow: 128)
    let (_, libReceiver) = try makeSessions(profile, .libsrtp, .libsrtp, replayWindow: 128)
    let random = RandomSource(seed: 5)
    var packets: [[UInt8]] = []
    for sequence in 65_000..<67_000 {
      let packet = makeRTP(
        sequence: UInt16(truncatingIfNeeded: sequence), random: random, payload: 20)
      packets.append(try sender.run(.protectRTP, packet).get())
    }
    // Within a window that moves forward, any order and any number of repeats.
    for step in 0..<6_000 {
      let base = step * packets.count / 6_000
      let packet = packets[max(0, base - Int(random.next() % 200))]
      #expect(
        evpReceiver.run(.unprotectRTP, packet).judgement
          == libReceiver.run(.unprotectRTP, packet).judgement)
    }
    #expect(evpReceiver.statistics == libReceiver.statistics)
    #expect(evpReceiver.statistics.tooOld > 0)
    #expect(evpReceiver.statistics.replays > 0)
  }
}

/// What became of a packet: its bytes, or the error.
enum Judgement: Equatable {
  case accepted([UInt8])
  case refused(SRTPError)
}

extension Result where Success == [UInt8], Failure == SRTPError {
  var judgement: Judgement {
    switch self {
    case .success(let bytes): .accepted(bytes)
    case .failure(let error): .refused(error)
    }
  }
}
