import SoraMedia
import SoraServer
import Testing

/// The order in which connections are polled.
@Suite struct DeadlineQueueTests {
  private final class Queued: DeadlineQueued {
    let number: Int
    var deadlineMark: DeadlineMark

    init(_ number: Int, in queue: inout DeadlineQueue<Queued>) {
      self.number = number
      deadlineMark = queue.makeMark()
    }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func itSaysWhatASortedListWould(seed: UInt64) {
    let random = RandomSource(seed: seed)
    func below(_ limit: UInt64) -> Int { Int(random.next() % limit) }
    var queue = DeadlineQueue<Queued>()
    let all = (0..<40).map { Queued($0, in: &queue) }
    var expected: [Int: Instant] = [:]
    for _ in 0..<4_000 {
      switch below(9) {
      case 0...4:
        let one = all[below(40)]
        // Few instants, so that many are equal.
        let deadline = Instant(nanoseconds: Int64(below(25)))
        queue.set(deadline, of: one)
        expected[one.number] = deadline
      case 5:
        let one = all[below(40)]
        queue.set(nil, of: one)
        expected[one.number] = nil
      case 6:
        let one = all[below(40)]
        let deadline = Instant(nanoseconds: Int64(below(25)))
        queue.bringForward(one, to: deadline)
        expected[one.number] = expected[one.number].map { min($0, deadline) } ?? deadline
      default:
        let now = Instant(nanoseconds: Int64(below(20)))
        let first = expected.min { ($0.value, $0.key) < ($1.value, $1.key) }
        let due = first.flatMap { $0.value <= now ? $0.key : nil }
        #expect(queue.popDue(at: now)?.number == due)
        if let due { expected[due] = nil }
      }
      #expect(queue.nextDeadline == expected.values.min())
    }
  }

  @Test func whatIsTakenOutIsHeldNoMore() {
    var queue = DeadlineQueue<Queued>()
    weak var gone: Queued?
    do {
      let one = Queued(1, in: &queue)
      gone = one
      queue.set(.zero, of: one)
      queue.touch(one)
      queue.touch(one)
    }
    #expect(gone != nil)
    #expect(queue.popDue(at: .zero) != nil)
    #expect(queue.takeTouched() != nil && queue.takeTouched() == nil)
    #expect(gone == nil && queue.nextDeadline == nil)
  }
}
