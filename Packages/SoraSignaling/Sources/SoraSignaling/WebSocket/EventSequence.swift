/// What happens, in order, for one reader.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let queue: EventQueue<Element>

    /// The next event; nil after the last one, or when the task is cancelled.
    public mutating func next() async -> Element? { await queue.next() }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await queue.next()
    }
  }

  let queue: EventQueue<Element>

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(queue: queue) }
}
