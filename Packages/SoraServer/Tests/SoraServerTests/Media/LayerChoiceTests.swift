import SoraMedia
import SoraServer
import Testing

/// Which layer of a simulcast a subscriber should be sent.
@Suite struct LayerChoiceTests {
  private func layers(_ flowing: [Bool], ripe: [Bool]? = nil) -> [LayerChoice.Layer] {
    flowing.enumerated().map { index, isFlowing in
      LayerChoice.Layer(
        rank: index, isFlowing: isFlowing, isRipe: ripe.map { $0[index] } ?? isFlowing)
    }
  }

  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  @Test func whatIsWantedIsReplacedByTheNextLowerOneOrTheLowest() {
    var choice = LayerChoice()
    func chosen(_ flowing: [Bool]) -> Int? {
      choice.choose(among: layers(flowing), granted: 2, affordable: 0, current: nil, at: .zero)
    }
    choice.wish = .rank(1)
    #expect(chosen([true, true, true]) == 1)
    #expect(chosen([true, false, true]) == 0)
    #expect(chosen([false, false, true]) == 2)
    #expect(chosen([false, false, false]) == nil)
    choice.wish = .none
    #expect(chosen([true, true, true]) == nil)
    choice.wish = .any
    #expect(chosen([true, true, true]) == 2)
    // A layer that has only begun isn't measured yet.
    #expect(
      choice.choose(
        among: layers([true, true, true], ripe: [true, true, false]), granted: 2, affordable: 0,
        current: 1, at: .zero) == 1)
    // Nothing is known of the link.
    #expect(
      choice.choose(
        among: layers([true, true, true]), granted: nil, affordable: 1, current: nil, at: .zero)
        == 1)
  }

  /// Who has to go down soon after going up waits longer each time.
  @Test func goingUpAgainAndAgainTakesLonger() {
    var choice = LayerChoice()
    let all = layers([true, true])
    var current = 1
    var waits: [Int64] = []
    var second: Int64 = 0
    for _ in 0..<4 {
      current = choice.choose(
        among: all, granted: 0, affordable: 0, current: current, at: at(second))!
      #expect(current == 0)
      let start = second
      while current == 0, second < start + 60 {
        second += 1
        current = choice.choose(
          among: all, granted: 1, affordable: 0, current: current, at: at(second))!
      }
      waits.append(second - start)
      second += 1
    }
    #expect(waits == [2, 4, 8, 16])
  }
}
