package import SoraMedia

/// The records that the peer is to be told came, and when (RFC 9147 §7).
package struct Acknowledgements {
  private static let limit = 64

  private var numbers: [RecordNumber] = []
  /// When they are told; nil where that isn't settled.
  package private(set) var deadline: Instant?

  package init() {}

  package var isEmpty: Bool { numbers.isEmpty }

  package mutating func add(_ number: RecordNumber) {
    if numbers.count < Self.limit { numbers.append(number) }
  }

  /// Settles when they are told, where that isn't settled yet.
  package mutating func wait(until time: Instant) {
    guard deadline == nil, !numbers.isEmpty else { return }
    deadline = time
  }

  /// They can't be told yet: stay for another time.
  package mutating func postpone() { deadline = nil }

  /// Gives them away to be told now.
  package mutating func take() -> [RecordNumber] {
    defer { self = Acknowledgements() }
    return numbers.sorted()
  }
}
