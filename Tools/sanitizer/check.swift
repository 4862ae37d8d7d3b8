import Dispatch
import Foundation
import Synchronization

// What the thread sanitizer has to find in order, and, with the argument `race`, a race that it has to report.

final class Counter: Sendable {
  let value = Mutex(0)
}

final class Buffer: @unchecked Sendable {
  // @unchecked: written only where the pool holds the sole reference.
  var value = 0
}

let isRace = CommandLine.arguments.contains("race")
let rounds = 20_000

// A mutex, contended.
let counter = Counter()
nonisolated(unsafe) var beside = 0
DispatchQueue.concurrentPerform(iterations: 4) { thread in
  for _ in 0..<rounds {
    if thread == 0 {
      while counter.value.withLockIfAvailable({ $0 += 1 }) == nil {}
    } else {
      counter.value.withLock { $0 += 1 }
    }
    if isRace { beside += 1 }
  }
}
precondition(counter.value.withLock { $0 } == 4 * rounds)

// A pool's object, read on another thread and then written again; and one in an optional.
let queue = DispatchQueue(label: "reader")
nonisolated(unsafe) var sum = 0
var pool = (0..<4).map { _ in Buffer() }
var single: Buffer? = Buffer()
for _ in 0..<rounds {
  if let index = pool.indices.first(where: { isKnownUniquelyReferenced(&pool[$0]) }) {
    pool[index].value += 1
    queue.async { [taken = pool[index]] in sum += taken.value }
  }
  if isKnownUniquelyReferenced(&single), let taken = single {
    taken.value += 1
    queue.async { sum += taken.value }
  }
}
queue.sync {}
