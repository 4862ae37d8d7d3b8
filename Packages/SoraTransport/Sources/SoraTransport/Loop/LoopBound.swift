/// A value that belongs to one loop, in a wrapper that may travel anywhere: reading it elsewhere traps.
///
/// Lets `Sendable` types hold on to sockets, timers and connections. When the last copy of the wrapper goes on
/// another thread, the value is released on the loop.
public struct LoopBound<Value>: @unchecked Sendable {
  // @unchecked: the value is reachable only through `value`, which traps off its loop, and released only there.

  private let box: Box

  /// Binds `value`, which must not be used elsewhere, to `loop`. Only on the loop.
  public init(_ value: Value, loop: NetworkLoop) {
    loop.preconditionCurrent()
    box = Box(value, loop)
  }

  /// The loop that the value belongs to.
  public var loop: NetworkLoop { box.loop }

  /// The value. Only on the loop.
  public var value: Value {
    box.loop.preconditionCurrent()
    return unsafe box.value.unsafelyUnwrapped
  }

  private final class Box {
    let loop: NetworkLoop
    var value: Value?

    init(_ value: Value, _ loop: NetworkLoop) {
      self.value = value
      self.loop = loop
    }

    deinit {
      guard !loop.isCurrent else { return }
      // The closure empties the cell: whoever releases the closure last, the value goes on the loop.
      let cell = Cell(value.take())
      loop.execute { cell.value = nil }
    }
  }

  private final class Cell: @unchecked Sendable {
    // @unchecked: filled by the deinit of its only owner, then touched only by the loop.
    var value: Value?
    init(_ value: consuming Value?) { self.value = value }
  }
}
