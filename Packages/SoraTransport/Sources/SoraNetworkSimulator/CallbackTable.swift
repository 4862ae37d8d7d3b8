import SoraMedia

/// A callback that waits in a simulated network, for cancelling it.
public struct SimulationCallback: Sendable, Hashable {
  let index: Int32
  let generation: Int32
}

/// The callbacks that wait in a simulated network.
struct CallbackTable {
  private struct Record {
    var action: ((Instant) -> Void)?
    /// Tells a callback from earlier ones in its place.
    var generation: Int32
    /// Nanoseconds between repetitions; 0 for once.
    var interval: Int64
  }

  private var records: [Record] = []
  private var free: [Int32] = []

  mutating func add(
    interval: Int64, _ action: @escaping (Instant) -> Void
  ) -> SimulationCallback {
    guard let index = free.popLast() else {
      records.append(Record(action: action, generation: 0, interval: interval))
      return SimulationCallback(index: Int32(records.count - 1), generation: 0)
    }
    records[Int(index)].action = action
    records[Int(index)].interval = interval
    return SimulationCallback(index: index, generation: records[Int(index)].generation)
  }

  /// Forgets a callback. Nothing happens where it was taken or forgotten already.
  mutating func remove(_ callback: SimulationCallback) {
    let index = Int(callback.index)
    guard records[index].generation == callback.generation, records[index].action != nil
    else { return }
    records[index].action = nil
    records[index].generation &+= 1
    free.append(callback.index)
  }

  /// What is to be called now, and after how many nanoseconds again, 0 for never: then it is forgotten. nil where it was already.
  mutating func take(
    _ callback: SimulationCallback
  ) -> (action: (Instant) -> Void, interval: Int64)? {
    let record = records[Int(callback.index)]
    guard record.generation == callback.generation, let action = record.action else { return nil }
    if record.interval == 0 { remove(callback) }
    return (action, record.interval)
  }

  /// Lets go of all actions.
  mutating func clear() {
    for index in records.indices { records[index].action = nil }
  }
}
