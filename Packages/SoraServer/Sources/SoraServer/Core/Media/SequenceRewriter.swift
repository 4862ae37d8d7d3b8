import SoraRTP

/// Gives a publisher's packets numbers of their own towards one subscriber: without a gap where packets are left out on
/// purpose, and with one where they are missing, so that it can be asked for.
///
/// Plain memory; its rings are made with the first packet.
package struct SequenceRewriter {
  /// What became of a packet of the publisher's.
  package enum Place: Hashable {
    /// It is missing so far; its number is kept for it.
    case reserved(UInt16)
    case forwarded(UInt16)
    case leftOut
    /// Too old, or never heard of.
    case unknown
  }

  private struct Entry {
    var source: UInt16 = 0
    var number: UInt16 = 0
    var state = State.empty
  }

  /// Where a number of ours comes from.
  package struct Origin: Hashable, Sendable {
    package var source: UInt16
    package var shift: PacketShift
    fileprivate var number: UInt16
  }

  private enum State: UInt8 { case empty, reserved, forwarded, leftOut }

  /// Gaps beyond this are a jump of the publisher's, over which numbers go on.
  private static let longestGap: UInt16 = 500

  private let capacity: Int
  /// By the publisher's number.
  private var places: [Entry] = []
  /// By ours. They outlive changes of the source. Those of no number yet have one that belongs elsewhere.
  private var origins: [Origin] = []
  private var highest: UInt16 = 0
  private var offset: UInt16 = 0
  private var isBased = false
  private var next: UInt16

  /// The newest number that was given out or kept.
  package var newest: UInt16 { isBased ? highest &+ offset : next &- 1 }

  /// - Parameters:
  ///   - capacity: how many packets back it knows; a power of two, at least 2.
  ///   - first: the first number (RFC 3550 §5.1: at random).
  package init(capacity: Int, first: UInt16) {
    self.capacity = capacity
    next = first
  }

  /// The publisher begins a new source: numbers go on from what was sent last.
  ///
  /// - Parameter number: what was forwarded from here on hasn't left and won't: its numbers are given out again. nil where all leaves.
  package mutating func rebase(withdrawing number: UInt16? = nil) {
    if isBased {
      next = highest &+ 1 &+ offset
      isBased = false
      for index in places.indices { places[index].state = .empty }
    }
    guard let number else { return }
    let count = next &- number
    // Not those of before what is known: they were sent.
    guard count > 0, count <= capacity else { return }
    next = number
  }

  /// What was forwarded from a number of ours on hasn't left, and is to be taken once more: its numbers are free.
  ///
  /// - Returns: the first of the publisher's numbers that are to be taken, and how many they are; nil where that isn't known any more.
  package mutating func reopen(from number: UInt16) -> (first: UInt16, count: UInt16)? {
    guard isBased, let first = origin(of: number)?.source, place(of: first) == .forwarded(number)
    else { return nil }
    defer {
      offset = number &- first
      highest = first &- 1
    }
    return (first, highest &- first &+ 1)
  }

  /// Forgets where numbers of ours come from.
  package mutating func forget() {
    rebase()
    places = []
    origins = []
  }

  /// Whether a packet is the newest so far; others have a `place`.
  package func isNewest(_ source: UInt16) -> Bool {
    !isBased || sequenceNumber(source, isNewerThan: highest)
  }

  /// Takes the newest packet.
  ///
  /// - Parameters:
  ///   - forwards: whether it goes to the subscriber.
  ///   - gapIsLeftOut: whether packets missing before it belong to what is left out.
  ///   - shift: what else of it is moved, and of those missing before it.
  /// - Returns: its number; nil where it is left out.
  package mutating func advance(
    to source: UInt16, forwards: Bool, gapIsLeftOut: Bool, shift: PacketShift = PacketShift()
  ) -> UInt16? {
    if places.isEmpty {
      places = Array(repeating: Entry(), count: capacity)
      origins = (1...capacity).map {
        Origin(source: 0, shift: PacketShift(), number: UInt16(truncatingIfNeeded: $0))
      }
    }
    if isBased, source &- highest > Self.longestGap { rebase() }
    if isBased {
      var missing = highest &+ 1
      while missing != source {
        if gapIsLeftOut { leaveOut(missing) } else { note(missing, .reserved, shift) }
        missing &+= 1
      }
    } else {
      offset = next &- source
      isBased = true
    }
    highest = source
    guard forwards else {
      leaveOut(source)
      return nil
    }
    note(source, .forwarded, shift)
    return source &+ offset
  }

  /// Where a packet that isn't the newest belongs.
  package func place(of source: UInt16) -> Place {
    guard !places.isEmpty else { return .unknown }
    let entry = places[slot(source)]
    guard entry.source == source else { return .unknown }
    switch entry.state {
    case .empty: return .unknown
    case .reserved: return .reserved(entry.number)
    case .forwarded: return .forwarded(entry.number)
    case .leftOut: return .leftOut
    }
  }

  /// A packet that was missing has come and takes the number that was kept for it.
  package mutating func fill(_ source: UInt16, shift: PacketShift = PacketShift()) {
    guard case .reserved(let number) = place(of: source) else { return }
    places[slot(source)].state = .forwarded
    origins[slot(number)].shift = shift
  }

  /// The publisher's packet that was forwarded or is expected under a number of ours, perhaps of a source before the present one.
  package func origin(of number: UInt16) -> Origin? {
    guard !origins.isEmpty, origins[slot(number)].number == number else { return nil }
    return origins[slot(number)]
  }

  private mutating func leaveOut(_ source: UInt16) {
    places[slot(source)] = Entry(source: source, number: 0, state: .leftOut)
    offset &-= 1
  }

  private mutating func note(_ source: UInt16, _ state: State, _ shift: PacketShift) {
    let number = source &+ offset
    places[slot(source)] = Entry(source: source, number: number, state: state)
    origins[slot(number)] = Origin(source: source, shift: shift, number: number)
  }

  private func slot(_ number: UInt16) -> Int { Int(number) & (capacity - 1) }
}
