import SoraCommandSupport
import SoraMedia
import Testing

@Suite struct RecordTimelineTests {
  private func places(_ rate: Double, _ milliseconds: [Int]) -> [Int] {
    var timeline = RecordTimeline(framesPerSecond: rate)
    return milliseconds.compactMap { timeline.advance(to: .zero + .milliseconds($0)) }
  }

  @Test func picturesStayUntilTheNext() {
    #expect(places(30, [0, 33, 67, 100]) == [1, 1, 1])
    #expect(places(30, [0, 100, 500]) == [3, 12])
    // Half as many as the film has: each twice. Twice as many: each second takes the place of the one before.
    #expect(places(30, (0..<30).map { $0 * 1_000 / 15 }).allSatisfy { $0 == 2 })
    #expect(places(30, (0...60).map { $0 * 1_000 / 60 }).reduce(0, +) == 30)
  }

  /// No error adds up: after any number of pictures the film is as long as they took.
  @Test(arguments: [16, 24, 25, 29, 31, 50]) func theFilmKeepsTime(_ rate: Int) {
    let times = (0...600).map { $0 * 1_000 / rate + ($0 % 3) * 4 }
    let film = places(30, times).reduce(0, +)
    #expect(abs(Double(film) - Double(times[600]) * 30 / 1_000) <= 0.5)
  }

  @Test func timeThatGoesBackTakesNoPlace() {
    #expect(places(30, [0, 100, 50, 133]) == [3, 0, 1])
  }

  @Test func longGapsAreCut() {
    var timeline = RecordTimeline(framesPerSecond: 20)
    let places = [.zero, .seconds(3_600), .milliseconds(3_600_100)].map {
      timeline.advance(to: .zero + $0)
    }
    #expect(places == [nil, 200, 2])
    #expect(timeline.cut == .seconds(3_590))
  }
}
