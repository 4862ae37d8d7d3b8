import SoraMedia
import SoraSCTP
import Testing

/// Everything here uses one usrsctp, and so one thread at a time.
@Suite(
  .serialized,
  .enabled(if: UsrsctpClock.isInstalled, Comment(rawValue: UsrsctpClock.requirement)))
enum Usrsctp {
  /// Who stands where in a plan.
  enum Pairing: Sendable, CaseIterable {
    case oursFirst
    case theirsFirst
    case oursAlone
    /// What the test itself is measured by.
    case theirsAlone
  }

  static func converse(
    _ plan: Plan, _ pairing: Pairing, adjust: (inout SCTPConfiguration) -> Void = { _ in }
  ) throws -> Conversation {
    let clock = UsrsctpClock(seed: plan.seed)
    func theirs() throws -> UsrsctpEnd { try UsrsctpEnd(plan.settings) }
    func ours(other: UInt64 = 0) -> OwnEnd {
      OwnEnd(plan.settings, random: RandomSource(seed: plan.seed &+ 1 &+ other), adjust: adjust)
    }
    return switch pairing {
    case .oursFirst: Conversation(plan, ours(), try theirs(), clock: clock)
    case .theirsFirst: Conversation(plan, try theirs(), ours(), clock: clock)
    case .oursAlone: Conversation(plan, ours(), ours(other: 1), clock: nil)
    case .theirsAlone: Conversation(plan, try theirs(), try theirs(), clock: clock)
    }
  }

  static func expectAgreement(
    _ plan: Plan, _ pairing: Pairing, adjust: (inout SCTPConfiguration) -> Void = { _ in }
  ) throws {
    let conversation = try converse(plan, pairing, adjust: adjust)
    let problems = conversation.run()
    #expect(
      problems.isEmpty,
      "\(plan), \(pairing), until \(conversation.now): \(problems.joined(separator: "; "))")
  }
}

extension Usrsctp {
  /// Whatever is sent, lost, closed and ended, both must say the same about every message.
  struct Schedules {
    @Test(arguments: 0..<96 as Range<UInt64>)
    func lossy(_ seed: UInt64) throws {
      try expectAgreement(.forUsrsctp(seed), seed % 2 == 0 ? .oursFirst : .theirsFirst)
    }

    /// On a link that loses nothing, what may be given up comes, too; and streams are closed and used again.
    @Test(arguments: 1_000..<1_048 as Range<UInt64>)
    func clean(_ seed: UInt64) throws {
      try expectAgreement(
        .forUsrsctp(seed, isClean: true), seed % 2 == 0 ? .oursFirst : .theirsFirst)
    }

    /// All of it at once, where usrsctp can't be the judge: ours with itself.
    @Test(arguments: 2_000..<2_096 as Range<UInt64>)
    func everything(_ seed: UInt64) throws {
      try expectAgreement(Plan(seed: seed), .oursAlone)
    }

    /// A wish that usrsctp doesn't know (RFC 9653) changes nothing.
    @Test(arguments: 3_000..<3_004 as Range<UInt64>)
    func withoutChecksum(_ seed: UInt64) throws {
      try expectAgreement(.forUsrsctp(seed), .oursFirst) { $0.zeroChecksum = true }
    }

    /// The same harness with usrsctp on both sides: what fails here isn't ours.
    @Test(arguments: [0, 1, 2, 3, 1_000, 1_001, 1_002, 1_003] as [UInt64])
    func usrsctpWithItself(_ seed: UInt64) throws {
      try expectAgreement(.forUsrsctp(seed, isClean: seed >= 1_000), .theirsAlone)
    }

    /// A seed decides everything, usrsctp's time and randomness included.
    @Test func repeats() throws {
      var runs: [[Int64]] = []
      for _ in 0..<2 {
        let conversation = try converse(.forUsrsctp(7), .oursFirst)
        _ = conversation.run()
        runs.append([
          conversation.now.nanoseconds, Int64(conversation.link.packetCount),
          Int64(conversation.receivedBytes),
        ])
      }
      #expect(runs[0] == runs[1])
      #expect(runs[0][2] > 0)
    }
  }

  struct Openings {
    @Test(arguments: Plan.Opening.allCases, [false, true])
    func connects(_ opening: Plan.Opening, interleaving: Bool) throws {
      for seed in 0..<4 as Range<UInt64> {
        var plan = Plan.forUsrsctp(seed, interleaving: interleaving)
        plan.opening = opening
        let conversation = try converse(plan, .oursFirst)
        let problems = conversation.run()
        #expect(problems.isEmpty, "\(plan): \(problems.joined(separator: "; "))")
        #expect(conversation.usesInterleaving() == [interleaving, interleaving], "\(plan)")
      }
    }

    /// Interleaving needs both; each of the two stays with what the other knows.
    @Test(arguments: [false, true]) func interleavingOfOne(_ oursOffers: Bool) throws {
      var plan = Plan.forUsrsctp(3, interleaving: false)
      plan.settings.offersInterleaving = !oursOffers
      let clock = UsrsctpClock(seed: 3)
      let theirs = try UsrsctpEnd(plan.settings)
      plan.settings.offersInterleaving = oursOffers
      let ours = OwnEnd(plan.settings, random: RandomSource(seed: 4))
      let conversation = Conversation(plan, ours, theirs, clock: clock)
      let problems = conversation.run()
      #expect(problems.isEmpty, "\(problems.joined(separator: "; "))")
      #expect(conversation.usesInterleaving() == [false, false])
    }
  }
}
