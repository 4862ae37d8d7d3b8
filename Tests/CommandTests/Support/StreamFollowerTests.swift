import SoraCommandSupport
import SoraMedia
import Testing

@Suite struct StreamFollowerTests {
  private func at(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

  @Test func theFirstStaysWhileItIsThere() {
    var follower = StreamFollower()
    #expect(follower.main == nil)
    follower.add("a", at: at(0))
    let aShown = follower.picture(of: "a")
    #expect(aShown)
    follower.add("b", at: at(1))
    let bShown = follower.picture(of: "b")
    #expect(!bShown)
    #expect(follower.main == "a")
    follower.remove("b", at: at(2))
    #expect(follower.main == "a")
    #expect(follower.gone(until: at(3)) == .zero)
  }

  @Test func theNewestThatIsThereComesNext() {
    var follower = StreamFollower()
    for (index, id) in ["a", "b", "c", "d"].enumerated() {
      follower.add(id, at: at(index))
      _ = follower.picture(of: id)
    }
    follower.remove("d", at: at(5))
    follower.remove("a", at: at(6))
    #expect(follower.main == "c")
    let cShown = follower.picture(of: "c")
    #expect(cShown)
    #expect(follower.stream("a")?.goneSince == at(6))
    #expect(follower.timesGone == 0)
  }

  @Test func afterAGapTheNextIsFollowedAtOnce() {
    var follower = StreamFollower()
    follower.add("a", at: at(0))
    _ = follower.picture(of: "a")
    follower.remove("a", at: at(4))
    follower.remove("a", at: at(5))
    #expect(follower.main == "a")
    #expect(follower.noneSince == at(4))
    #expect(follower.gone(until: at(6)) == .seconds(2))
    follower.add("b", at: at(7))
    #expect(follower.main == "b")
    #expect(follower.noneSince == nil)
    #expect(follower.gone(until: at(9)) == .seconds(3))
    // The same id once more: a publisher that came back.
    follower.remove("b", at: at(10))
    follower.add("a", at: at(12))
    #expect(follower.main == "a")
    #expect(follower.streams.map(\.id) == ["a", "b"])
    #expect(follower.gone(until: at(12)) == .seconds(5))
    #expect(follower.timesGone == 2)
  }

  @Test func picturesGoBeforeSoundAndSoundBeforeNothing() {
    var follower = StreamFollower()
    follower.add("silent", at: at(0))
    follower.add("sounds", at: at(0))
    #expect(follower.main == "silent")
    let soundsHeard = follower.sound(of: "sounds")
    #expect(soundsHeard)
    follower.add("shows", at: at(1))
    let showsHeard = follower.sound(of: "shows")
    #expect(!showsHeard)
    let showsShown = follower.picture(of: "shows")
    #expect(showsShown)
    let soundsHeardAgain = follower.sound(of: "sounds")
    #expect(!soundsHeardAgain)
    let unknownShown = follower.picture(of: "unknown")
    #expect(!unknownShown)
  }
}
