import SoraMedia

/// What clients and the API have asked and the store hasn't answered.
struct ClusterQuestions {
  enum Question {
    case place(String)
    case locate(String)
  }

  private struct Entry {
    let ticket: UInt64
    let question: Question
    let deadline: Instant
    var notBefore: Instant
  }

  /// In the order of their coming.
  private var waiting: [Entry] = []
  /// The one that the store is asked about now.
  private var current: Entry?

  mutating func add(
    _ question: Question, _ ticket: UInt64, at now: Instant, until deadline: Instant
  ) {
    waiting.append(
      Entry(ticket: ticket, question: question, deadline: deadline, notBefore: now))
  }

  /// Takes the first that is due.
  ///
  /// - Parameters:
  ///   - settled: when clients may be placed; `now`, or later.
  ///   - now: the time.
  mutating func next(at settled: Instant, isNow now: Instant) -> (UInt64, Question)? {
    let index = waiting.firstIndex { entry in
      if case .place = entry.question, settled > now { return false }
      return entry.notBefore <= now
    }
    guard let index else { return nil }
    let entry = waiting.remove(at: index)
    current = entry
    return (entry.ticket, entry.question)
  }

  /// The one that the store was asked about needs no further answer.
  @discardableResult
  mutating func answered() -> (UInt64, Question)? {
    defer { current = nil }
    return current.map { ($0.ticket, $0.question) }
  }

  /// Asks about it once more. Whether there is one whose client waits that long.
  mutating func retry(at time: Instant) -> Bool {
    guard var entry = current, time < entry.deadline else { return false }
    entry.notBefore = time
    waiting.append(entry)
    current = nil
    return true
  }

  /// Takes those that have waited too long.
  mutating func expire(at now: Instant) -> [(UInt64, Question)] {
    guard waiting.contains(where: { $0.deadline <= now }) else { return [] }
    defer { waiting.removeAll { $0.deadline <= now } }
    return waiting.filter { $0.deadline <= now }.map { ($0.ticket, $0.question) }
  }

  /// When the first has waited too long.
  var deadline: Instant? { waiting.map(\.deadline).min() }

  /// When the first may be asked about.
  var due: Instant? { waiting.map(\.notBefore).min() }
}
