import SoraMedia
import SoraTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoopTimerTests {
  @Test func timersFireOnceInOrderAndNotEarly() async throws {
    let loop = try NetworkLoop.make()
    let (stream, results) = AsyncStream.makeStream(of: (Int, Bool).self)
    loop.execute {
      let start = loop.now
      for index in [3, 1, 2, 0] {
        let deadline = start + .milliseconds(2 * index)
        let timer = loop.makeTimer { now in results.yield((index, now >= deadline)) }
        timer.deadline = deadline
      }
    }
    var fired: [Int] = []
    for await (index, onTime) in stream {
      fired.append(index)
      #expect(onTime)
      if fired.count == 4 { break }
    }
    #expect(fired == [0, 1, 2, 3])
  }

  @Test func aDeadlineMayMoveBothWays() async throws {
    let loop = try NetworkLoop.make()
    let (stream, results) = AsyncStream.makeStream(of: String.self)
    loop.execute {
      let start = loop.now
      let later = loop.makeTimer { _ in results.yield("later") }
      later.deadline = start
      let earlier = loop.makeTimer { _ in results.yield("earlier") }
      earlier.deadline = start + .seconds(3600)
      let never = loop.makeTimer { _ in results.yield("never") }
      never.deadline = start
      // What every packet does: push deadlines out.
      for step in 1...1000 { later.deadline = start + .microseconds(10 * step) }
      earlier.deadline = start + .milliseconds(1)
      never.deadline = nil
      #expect(never.deadline == nil)
      #expect(earlier.deadline == start + .milliseconds(1))
    }
    var fired: [String] = []
    for await name in stream {
      fired.append(name)
      if fired.count == 2 { break }
    }
    #expect(fired == ["earlier", "later"])
  }

  @Test func aTimerMaySetItselfAgainAndStopOthers() async throws {
    let loop = try NetworkLoop.make()
    let turns = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
      loop.execute {
        final class State {
          var turns = 0
          var ticking: LoopTimer?
          var victim: LoopTimer?
        }
        let state = State()
        let start = loop.now
        state.ticking = loop.makeTimer { now in
          state.turns += 1
          state.victim?.deadline = nil
          if state.turns == 5 {
            continuation.resume(returning: state.turns)
            state.ticking = nil
          } else {
            // Already past: fires in the next turn, not for ever in this one.
            state.ticking?.deadline = start
          }
        }
        state.victim = loop.makeTimer { _ in Issue.record("a stopped timer has fired") }
        state.ticking?.deadline = start
        state.victim?.deadline = start + .nanoseconds(1)
      }
    }
    #expect(turns == 5)
  }

  @Test func manyTimersKeepTheirOrder() async throws {
    let loop = try NetworkLoop.make()
    let order = await withCheckedContinuation {
      (continuation: CheckedContinuation<[Int64], Never>) in
      loop.execute {
        let random = RandomSource(seed: 7)
        final class State { var fired: [Int64] = [] }
        let state = State()
        var timers: [LoopTimer] = []
        let start = loop.now
        for _ in 0..<500 {
          let timer = loop.makeTimer { _ in }
          timer.deadline = start + .milliseconds(Int64(random.next() % 1000) + 5000)
          timers.append(timer)
        }
        for index in 0..<400 {
          switch random.next() % 3 {
          case 0: timers[index].deadline = nil
          case 1: timers[index].cancel()
          default: timers[index].deadline = start + .seconds(7200)
          }
        }
        for offset in 0..<200 {
          let delay = Int64((offset * 37) % 200)
          let timer = loop.makeTimer { _ in
            state.fired.append(delay)
            if state.fired.count == 200 { continuation.resume(returning: state.fired) }
          }
          timer.deadline = start + .microseconds(delay * 20)
        }
      }
    }
    #expect(order == order.sorted())
    loop.shutdown()
  }
}
