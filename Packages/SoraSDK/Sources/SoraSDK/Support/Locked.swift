import Synchronization

/// A property that any thread may read and write. A class, because property wrappers of classes can't be noncopyable.
@propertyWrapper
public final class Locked<Value: Sendable>: Sendable {
  private let storage: Mutex<Value>

  public init(wrappedValue: Value) { storage = Mutex(wrappedValue) }

  public var wrappedValue: Value {
    get { storage.withLock { $0 } }
    set { storage.withLock { $0 = newValue } }
  }
}
