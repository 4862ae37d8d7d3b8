public import SoraMedia

/// Calls back once when its deadline has come. Made by `NetworkLoop.makeTimer`, confined to that loop.
///
/// Setting `deadline` is meant to be done after every packet: moving it later, or to `nil`, costs a store. While a
/// deadline is set, the loop keeps the timer, and what its callback captures, alive.
public final class LoopTimer {
  static let never = Int64.max

  /// When to fire, or `nil` for never. Set to `nil` right before the callback runs. A deadline that has passed
  /// fires in the loop's next turn.
  public var deadline: Instant? {
    get { due == Self.never ? nil : Instant(nanoseconds: due) }
    set {
      heap.context.preconditionCurrent()
      isFiring = false
      heap.setDeadline(newValue?.nanoseconds ?? Self.never, of: self)
    }
  }

  /// Disarms the timer and lets go of its callback: it never fires again.
  public func cancel() {
    heap.context.preconditionCurrent()
    isFiring = false
    heap.remove(self)
    fire = nil
  }

  private let heap: TimerHeap
  private(set) var fire: ((Instant) -> Void)?
  /// The deadline that the owner set.
  var due = LoopTimer.never
  /// Where it is in the heap; -1 when it isn't there.
  var index = -1
  /// Taken from the heap because it is due, and about to be called in this turn.
  var isFiring = false

  init(heap: TimerHeap, _ fire: @escaping (Instant) -> Void) {
    self.heap = heap
    self.fire = fire
  }
}

/// A binary heap of timers by a key that may lag behind (be earlier than) the timer's deadline: deadlines move
/// later far more often than they come, so an entry is only put right when it reaches the top.
final class TimerHeap {
  private struct Entry {
    var key: Int64
    var timer: LoopTimer

    static func < (one: Entry, other: Entry) -> Bool { one.key < other.key }
  }

  private var entries = BinaryHeap<Entry>()
  /// No timer is due before this; `LoopTimer.never` where there is none. A plain number, for a look at each turn.
  private(set) var bound = LoopTimer.never

  let context: LoopContext

  init(context: LoopContext) { self.context = context }

  var count: Int { entries.count }

  func setDeadline(_ deadline: Int64, of timer: LoopTimer) {
    timer.due = deadline
    bound = min(bound, deadline)
    if timer.index < 0 {
      if deadline == LoopTimer.never || timer.fire == nil { return }
      entries.insert(Entry(key: deadline, timer: timer), by: <) { $0.timer.index = $1 }
    } else if deadline < entries[timer.index].key {
      setKey(deadline, at: timer.index)
    }
  }

  func remove(_ timer: LoopTimer) {
    timer.due = LoopTimer.never
    guard timer.index >= 0 else { return }
    removeEntry(at: timer.index)
  }

  func removeAll() {
    for index in 0..<entries.count {
      entries[index].timer.index = -1
      entries[index].timer.due = LoopTimer.never
    }
    entries.removeAll()
    bound = LoopTimer.never
  }

  /// The earliest deadline, or `nil`.
  func earliest() -> Int64? {
    while let top = entries.first {
      if top.timer.due == top.key {
        bound = top.key
        return top.key
      }
      settleTop()
    }
    bound = LoopTimer.never
    return nil
  }

  /// Takes out the earliest timer if it is due at `now`.
  func popDue(at now: Int64) -> LoopTimer? {
    guard let key = earliest(), key <= now else { return nil }
    let timer = entries[0].timer
    removeEntry(at: 0)
    return timer
  }

  private func settleTop() {
    let due = entries[0].timer.due
    if due == LoopTimer.never {
      removeEntry(at: 0)
    } else {
      setKey(due, at: 0)
    }
  }

  private func removeEntry(at index: Int) {
    entries.remove(at: index, by: <) { $0.timer.index = $1 }.timer.index = -1
  }

  private func setKey(_ key: Int64, at index: Int) {
    entries.update(at: index, by: <, placed: { $0.timer.index = $1 }) { $0.key = key }
  }
}
