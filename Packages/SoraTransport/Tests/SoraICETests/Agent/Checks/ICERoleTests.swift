import SoraICE
import SoraMedia
import Testing

/// Who gives way where both sides claim one role (RFC 8445 §7.3.1.1).
@Suite struct ICERoleTests {
  /// A source whose numbers are all the same.
  private func role(_ configuration: ICEConfiguration, tieBreaker: UInt64 = 100) -> ICERole {
    ICERole(configuration, RandomSource { tieBreaker })
  }

  @Test(arguments: [true, false]) func differentRolesDontConflict(isControlling: Bool) {
    let role = role(.init(isControlling: isControlling))
    #expect(role.conflict(with: (!isControlling, 1000), isPeerLite: false) == .none)
  }

  @Test func theGreaterNumberControls() {
    let controlling = role(.init(isControlling: true))
    #expect(controlling.conflict(with: (true, 101), isPeerLite: false) == .ours)
    #expect(controlling.conflict(with: (true, 100), isPeerLite: false) == .theirs)
    let controlled = role(.init(isControlling: false))
    #expect(controlled.conflict(with: (false, 101), isPeerLite: false) == .theirs)
    #expect(controlled.conflict(with: (false, 100), isPeerLite: false) == .ours)
  }

  @Test func aLiteSideNeverControls() {
    let lite = role(.init(isControlling: true, isLite: true))
    #expect(!lite.isControlling)
    #expect(lite.conflict(with: (false, 1), isPeerLite: false) == .theirs)
    #expect(role(.init(isControlling: true)).conflict(with: (true, 101), isPeerLite: true) == .none)
  }

  @Test func aNumberTakenBackComesWithoutItsRole() {
    let old = role(.init(isControlling: true))
    var role = old
    role.drawTieBreaker(RandomSource { 7 })
    role.isControlling = false
    #expect(role.conflict(with: (false, 50), isPeerLite: false) == .theirs)
    role.takeTieBreaker(of: old)
    #expect(!role.isControlling)
    #expect(role.conflict(with: (false, 50), isPeerLite: false) == .ours)
  }
}
