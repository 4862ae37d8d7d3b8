package import SoraMedia

/// What an agent has to say and to send, until its owner takes it.
package struct ICEOutput {
  /// The most datagrams that wait: an owner that takes none mustn't fill the memory.
  package static let datagramLimit = 512
  /// The time between answers to those who have proven nothing.
  package static let strangerInterval = Duration.milliseconds(50)

  private var datagrams = TakenQueue<ICETransmit>()
  private var events = TakenQueue<ICEEvent>()
  private var strangersAnsweredFrom = Instant(nanoseconds: .min)

  package init() {}

  /// Queues a datagram.
  ///
  /// - Returns: whether there was room for it.
  package mutating func send(_ datagram: ICETransmit) -> Bool {
    guard datagrams.count < Self.datagramLimit else { return false }
    datagrams.append(datagram)
    return true
  }

  package mutating func tell(_ event: ICEEvent) { events.append(event) }

  package mutating func nextDatagram() -> ICETransmit? { datagrams.next() }

  package mutating func nextEvent() -> ICEEvent? { events.next() }

  /// Whether a request that nobody signed may be answered now; if so, the next may be only after `strangerInterval`. Its source
  /// address may be made up, and the agent is not to be a reflector.
  package mutating func mayAnswerStranger(at now: Instant) -> Bool {
    guard now >= strangersAnsweredFrom else { return false }
    strangersAnsweredFrom = now + Self.strangerInterval
    return true
  }
}

/// A queue that keeps its memory when it has been emptied.
private struct TakenQueue<Element> {
  private var elements: [Element] = []
  private var head = 0

  var count: Int { elements.count - head }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func next() -> Element? {
    guard head < elements.count else {
      if head > 0 {
        elements.removeAll(keepingCapacity: true)
        head = 0
      }
      return nil
    }
    head += 1
    return elements[head - 1]
  }
}
