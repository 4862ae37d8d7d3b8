import SoraMedia
import SoraServer
import Testing

/// From a connection's making to its end.
@Suite struct ConnectionLifeTests {
  private func second(_ value: Int64) -> Instant { Instant(nanoseconds: value * 1_000_000_000) }

  private func life(lifetime: Duration? = nil) -> ConnectionLife {
    ConnectionLife(mediaBy: second(30), lifetime: lifetime)
  }

  @Test func mediaHasToFlowInTime() {
    var life = life()
    let early = life.poll(at: second(29))
    #expect(early == nil && life.nextDeadline == second(30))
    let late = life.poll(at: second(30))
    #expect(late == .mediaMissing)
    #expect(!life.isConnected && !life.isEnded && life.connectedAt == nil)
  }

  @Test func itConnectsOnce() {
    var life = life(lifetime: .seconds(90))
    let connects = life.connect(at: second(10))
    let connectsAgain = life.connect(at: second(20))
    #expect(connects && !connectsAgain && life.isConnected)
    #expect(life.connectedAt == second(10))
    var due: [ConnectionLife.Event] = []
    for _ in 0..<2 {
      guard let deadline = life.nextDeadline, let event = life.poll(at: deadline) else { break }
      due.append(event)
    }
    #expect(due == [.span(.minute(1)), .span(.over)])
  }

  /// What was said last may be on its way still, but for a while only.
  @Test func itLeavesBeforeItIsOver() {
    var life = life()
    let isEarly = life.hasten(to: second(1))
    #expect(!isEarly)
    _ = life.connect(at: second(10))
    life.leave(until: second(103))
    #expect(life.isEnded && life.isLeaving && !life.isOver && !life.isConnected)
    let due = life.poll(at: second(200))
    #expect(due == nil && life.nextDeadline == second(103))
    let isLeaving = life.hasten(to: second(101)) && life.hasten(to: second(102))
    #expect(isLeaving && life.nextDeadline == second(101))
    #expect(!life.hasLeft(at: second(100)) && life.hasLeft(at: second(101)))
    life.end()
    #expect(life.isEnded && life.isOver && !life.isLeaving && life.nextDeadline == nil)
    #expect(life.connectedAt == second(10))
  }

  @Test func whatHasEndedConnectsNoMore() {
    var life = life()
    life.end()
    let connects = life.connect(at: second(1))
    #expect(!connects && life.isOver && life.connectedAt == nil)
  }
}
