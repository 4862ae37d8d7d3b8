import Synchronization

/// A value that any thread may read and write, whole or one property of it.
@dynamicMemberLookup
final class Locked<Value: Sendable>: Sendable {
  private let storage: Mutex<Value>

  init(_ value: Value) { storage = Mutex(value) }

  var value: Value {
    get { storage.withLock { $0 } }
    set { storage.withLock { $0 = newValue } }
  }

  /// A property, without a gap in which another thread's change of the other properties would be lost.
  subscript<Property: Sendable>(dynamicMember path: WritableKeyPath<Value, Property>) -> Property {
    get { storage.withLock { $0[keyPath: path] } }
    set { storage.withLock { $0[keyPath: path] = newValue } }
  }

  /// Changes several properties at once, and returns what that gives.
  func change<Result>(_ body: (inout Value) -> sending Result) -> sending Result {
    storage.withLock(body)
  }
}
