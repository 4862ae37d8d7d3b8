import SoraMedia
import SoraSRTP
import Testing

@Suite struct MutationTests {
  /// Whatever arrives, nothing traps, and nothing that was changed is accepted.
  @Test(arguments: SessionTests.combinations)
  func changedPacketsAreRefused(
    profile: SRTPProfile, implementation: SRTPSession.Implementation
  ) throws {
    let (sender, receiver) = try makeSessions(profile, implementation, implementation)
    let random = RandomSource(seed: 99)
    var accepted = 0
    for step in 0..<20_000 {
      let isControl = random.next() % 4 == 0
      let plain =
        isControl
        ? makeRTCP(random: random)
        : makeRTP(sequence: UInt16(truncatingIfNeeded: step), random: random, payload: 64)
      let protected = try sender.run(isControl ? .protectRTCP : .protectRTP, plain).get()
      var changed = protected
      switch random.next() % 6 {
      case 0: changed.removeLast(Int(random.next() % UInt64(changed.count)) + 1)
      case 1: changed += random.bytes(Int(random.next() % 40) + 1)
      case 2: changed = random.bytes(Int(random.next() % 200))
      default:
        for _ in 0...(random.next() % 3) {
          let position = Int(random.next() % UInt64(changed.count))
          changed[position] ^= UInt8(truncatingIfNeeded: random.next() | 1)
        }
      }
      if changed != protected {
        for operation in [Operation.unprotectRTP, .unprotectRTCP] {
          if case .success = receiver.run(operation, changed) { accepted += 1 }
        }
      }
      // Protecting nonsense must not trap either.
      if step % 8 == 0 { _ = receiver.run(.protectRTCP, changed) }
      if step % 8 == 4 { _ = receiver.run(.protectRTP, changed) }
    }
    #expect(accepted == 0)
  }
}
