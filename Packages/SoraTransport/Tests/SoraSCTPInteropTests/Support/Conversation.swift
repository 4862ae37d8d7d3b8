import SoraMedia

/// Two ends that carry out a plan over a link, in virtual time.
final class Conversation {
  private enum Half {
    case open
    /// To be reset as soon as the end takes it.
    case wanted
    case asked
    case closed
    /// Both halves are closed, and stay so.
    case over
  }

  /// One of the two.
  private struct Side {
    var end: any End
    /// In the order of time; those that aren't due, or weren't taken yet.
    var commands: [Plan.Command]
    var next = 0
    /// What the next message holds.
    var content: (id: UInt32, bytes: [UInt8])?
    var isUp = false
    var usesInterleaving = false
    var ending: EndEvent.Ending?
    /// What this side has done with its half of a stream.
    var halves: [UInt16: Half] = [:]
    /// How often the other side has closed a stream without this one having closed it, too. Twice where it knows already that both
    /// halves are closed, and this one doesn't.
    var closedByPeer: [UInt16: Int] = [:]
    /// What this side has sent.
    var ledger = Ledger()

    var isDone: Bool {
      next == commands.count && closedByPeer.isEmpty
        && areSettled
    }
    /// Whether no stream is being closed.
    var areSettled: Bool { halves.values.allSatisfy { $0 == .open || $0 == .over } }
    var hasSentAll: Bool { next == commands.count && !halves.values.contains(.wanted) }
  }

  let plan: Plan
  let link: PacketLink
  private let clock: UsrsctpClock?
  private var sides: [Side]
  private(set) var now = Instant.zero
  private(set) var problems: [String] = []
  private var isClosing = false
  private var outgoingResets = 0

  init(_ plan: Plan, _ first: any End, _ second: any End, clock: UsrsctpClock?) {
    self.plan = plan
    self.clock = clock
    link = PacketLink(plan.conditions, random: RandomSource(seed: plan.seed ^ 0x6C69_6E6B))
    sides = [first, second].enumerated().map { index, end in
      Side(end: end, commands: plan.commands.filter { $0.end == index })
    }
  }

  var resetCount: Int { outgoingResets }
  var receivedCount: Int { sides.reduce(0) { $0 + $1.ledger.receivedCount } }
  var receivedBytes: Int { sides.reduce(0) { $0 + $1.ledger.receivedBytes } }
  func endings() -> [EndEvent.Ending?] { sides.map(\.ending) }
  func usesInterleaving() -> [Bool] { sides.map(\.usesInterleaving) }

  /// Carries out the plan, and says what went wrong.
  func run(limit: Duration = .seconds(1_800)) -> [String] {
    switch plan.opening {
    case .first:
      sides[1].end.listen(at: now)
      sides[0].end.connect(at: now)
    case .second:
      sides[0].end.listen(at: now)
      sides[1].end.connect(at: now)
    case .both:
      sides[0].end.connect(at: now)
      sides[1].end.connect(at: now)
    }
    let end = Instant.zero + limit
    while !isOver, problems.count < 20 {
      settle()
      guard !isOver else { break }
      if !isClosing, mayClose { close() }
      guard let next = nextMoment(), next <= end else {
        problems.append("stands still at \(now): \(standing())")
        break
      }
      advance(to: next)
    }
    finish()
    return problems
  }

  private var isOver: Bool { sides.allSatisfy { $0.ending != nil } }

  private func standing() -> String {
    sides.map {
      "\($0.isUp ? "up" : "not up"), \($0.commands.count - $0.next) commands left, \($0.ledger.outstanding) messages under way, "
        + "\($0.halves.values.filter { $0 != .open && $0 != .over }.count) streams being closed, ended: \($0.ending.map { "\($0)" } ?? "no")"
    }.joined(separator: "; ")
  }

  /// Lets both ends do what they can do now.
  private func settle() {
    for _ in 0..<10_000 {
      var moved = false
      for index in 0..<2 {
        while let event = sides[index].end.nextEvent() {
          note(event, at: index)
          moved = true
        }
        if pump(index) { moved = true }
        while let packet = sides[index].end.nextPacket(at: now) {
          link.carry(packet, to: 1 - index, at: now)
          moved = true
        }
      }
      while let (to, packet) = link.next(at: now) {
        sides[to].end.receive(packet, at: now)
        moved = true
      }
      if !moved { return }
    }
    problems.append("something is done again and again at \(now)")
  }

  private func nextMoment() -> Instant? {
    var next = link.nextArrival
    for side in sides {
      next = earliest(next, side.end.nextDeadline)
      if side.isUp, !isClosing, side.next < side.commands.count {
        let due = side.commands[side.next].at
        if due > now { next = earliest(next, due) }
      }
    }
    // usrsctp doesn't say when it wants to be called.
    if clock != nil { next = earliest(next, now + .seconds(1)) }
    return next
  }

  private func advance(to next: Instant) {
    now = max(now, clock?.run(until: max(now, next)) ?? next)
    for side in sides {
      if let deadline = side.end.nextDeadline, deadline <= now { side.end.poll(at: now) }
    }
  }

  private func note(_ event: EndEvent, at index: Int) {
    if sides[index].ending != nil { problems.append("end \(index) says \(event) after its end") }
    switch event {
    case .up(let interleaving):
      if sides[index].isUp { problems.append("end \(index) is up twice") }
      sides[index].isUp = true
      sides[index].usesInterleaving = interleaving
    case .received(let received): sides[1 - index].ledger.noteReceived(received)
    case .incomingReset(let stream):
      sides[1 - index].ledger.noteIncomingReset(of: stream)
      sides[index].closedByPeer[stream, default: 0] += 1
      if sides[index].halves[stream, default: .open] == .open {
        sides[index].halves[stream] = .wanted
      }
      reopen(stream, index)
    case .outgoingReset(let stream):
      outgoingResets += 1
      sides[index].halves[stream] = .closed
      reopen(stream, index)
    case .resetFailed(let stream): problems.append("end \(index) couldn't close stream \(stream)")
    case .ended(let ending):
      sides[index].ending = ending
      if !isClosing {
        problems.append("end \(index) has ended at \(now): \(ending), \(sides[index].end.reason)")
      }
    }
  }

  /// A stream can be used again when both halves are closed.
  private func reopen(_ stream: UInt16, _ index: Int) {
    guard sides[index].halves[stream] == .closed, let count = sides[index].closedByPeer[stream]
    else { return }
    sides[index].halves[stream] = count > 1 ? .wanted : plan.reusesStreams ? .open : .over
    sides[index].closedByPeer[stream] = count > 1 ? count - 1 : nil
  }

  /// Has an end do what is due. Gives whether it took anything.
  private func pump(_ index: Int) -> Bool {
    guard sides[index].isUp, sides[index].ending == nil, !isClosing else { return false }
    var moved = askForResets(index)
    while sides[index].next < sides[index].commands.count {
      let command = sides[index].commands[sides[index].next]
      guard command.at <= now else { break }
      switch command.what {
      case .reset(let stream):
        if sides[index].halves[stream, default: .open] == .open {
          sides[index].halves[stream] = .wanted
          moved = askForResets(index) || moved
        }
      case .send(let message):
        // Nobody sends on a stream that is being closed.
        guard sides[index].halves[message.stream, default: .open] == .open else { break }
        let bytes =
          sides[index].content.flatMap { $0.id == message.id ? $0.bytes : nil } ?? message.bytes
        sides[index].content = (message.id, bytes)
        switch sides[index].end.send(message, bytes, at: now) {
        case .accepted: sides[index].ledger.noteSent(message)
        case .later: return moved
        case .refused(let reason):
          problems.append("end \(index) refuses message \(message.id) at \(now): \(reason)")
        }
      }
      sides[index].next += 1
      moved = true
    }
    return moved
  }

  private func askForResets(_ index: Int) -> Bool {
    var moved = false
    for stream in sides[index].halves.keys.sorted()
    where sides[index].halves[stream] == .wanted {
      switch sides[index].end.reset(stream, at: now) {
      case .accepted:
        sides[index].halves[stream] = .asked
        sides[index].ledger.noteReset(by: stream)
        moved = true
      case .later: break
      case .refused(let reason):
        problems.append("end \(index) refuses to close stream \(stream): \(reason)")
        sides[index].halves[stream] = .asked
      }
    }
    return moved
  }

  private var mayClose: Bool {
    guard sides.allSatisfy(\.isUp) else { return false }
    if plan.closesEarly, sides.allSatisfy(\.hasSentAll) {
      // A reset that was asked for ends first: shutting down doesn't wait for it.
      return sides.allSatisfy(\.areSettled)
        || plan.close == .abort(by: 0) || plan.close == .abort(by: 1)
    }
    return sides.allSatisfy { $0.isDone && $0.ledger.outstanding == 0 }
  }

  private func close() {
    isClosing = true
    switch plan.close {
    case .shutDown(let index): sides[index].end.shutDown(at: now)
    case .shutDownByBoth: for side in sides { side.end.shutDown(at: now) }
    case .abort(let index): sides[index].end.abort(at: now)
    }
    settle()
  }

  private func finish() {
    let isOrderly =
      switch plan.close {
      case .abort: false
      case .shutDown, .shutDownByBoth: true
      }
    for index in 0..<2 {
      if isClosing, isOrderly, isOver {
        sides[index].ledger.noteEnd(
          abandoned: sides[index].end.abandoned,
          everythingArrives: plan.conditions.isClean && !hasLifetimes)
      }
      problems += sides[index].ledger.problems
      if isOver, let ending = sides[index].ending, (ending == .shutDown) != isOrderly {
        // The one that SHUTDOWN COMPLETE is lost to may get an ABORT, for a late packet of its own (RFC 9260 §8.4).
        let isLate =
          isOrderly && ending == .aborted && !plan.conditions.isClean
          && sides[1 - index].ending == .shutDown
        if !isLate {
          problems.append("end \(index) takes the end for \(ending), \(sides[index].end.reason)")
        }
      }
      if let stuck = (sides[index].end as? OwnEnd)?.stuckDeadline { problems.append(stuck) }
    }
    if link.largestPacket > plan.settings.mtu {
      problems.append("a packet of \(link.largestPacket) bytes was sent")
    }
  }

  /// A message may live too short a time for its queue, on a link that loses nothing.
  private var hasLifetimes: Bool {
    plan.commands.contains { command in
      guard case .send(let message) = command.what, case .lifetime = message.reliability else {
        return false
      }
      return true
    }
  }
}
