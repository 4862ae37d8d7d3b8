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

  private enum State: UInt8 { case empty, reserved, forwarded, leftOut }

  /// Gaps beyond this are a jump of the publisher's, over which numbers go on.
  private static let longestGap: UInt16 = 500

  private let capacity: Int
  /// By the publisher's number, and the publisher's numbers by ours.
  private var places: [Entry] = []
  private var origins: [(number: UInt16, source: UInt16, isKnown: Bool)] = []
  private var highest: UInt16 = 0
  private var offset: UInt16 = 0
  private var isBased = false
  private var next: UInt16

  /// - Parameters:
  ///   - capacity: how many packets back it knows; a power of two.
  ///   - first: the first number (RFC 3550 §5.1: at random).
  package init(capacity: Int, first: UInt16) {
    self.capacity = capacity
    next = first
  }

  /// The publisher begins a new source: numbers go on from what was sent last.
  package mutating func rebase() {
    guard isBased else { return }
    next = highest &+ 1 &+ offset
    isBased = false
    for index in places.indices { places[index].state = .empty }
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
  /// - Returns: its number; nil where it is left out.
  package mutating func advance(to source: UInt16, forwards: Bool, gapIsLeftOut: Bool) -> UInt16? {
    if places.isEmpty {
      places = Array(repeating: Entry(), count: capacity)
      origins = Array(repeating: (0, 0, false), count: capacity)
    }
    if isBased, source &- highest > Self.longestGap { rebase() }
    if isBased {
      var missing = highest &+ 1
      while missing != source {
        if gapIsLeftOut { leaveOut(missing) } else { note(missing, .reserved) }
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
    note(source, .forwarded)
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
  package mutating func fill(_ source: UInt16) {
    guard case .reserved = place(of: source) else { return }
    places[slot(source)].state = .forwarded
  }

  /// The publisher's number of a packet that was forwarded or is expected under ours.
  package func source(of number: UInt16) -> UInt16? {
    guard !origins.isEmpty else { return nil }
    let origin = origins[slot(number)]
    return origin.isKnown && origin.number == number ? origin.source : nil
  }

  private mutating func leaveOut(_ source: UInt16) {
    places[slot(source)] = Entry(source: source, number: 0, state: .leftOut)
    offset &-= 1
  }

  private mutating func note(_ source: UInt16, _ state: State) {
    let number = source &+ offset
    places[slot(source)] = Entry(source: source, number: number, state: state)
    origins[slot(number)] = (number, source, true)
  }

  private func slot(_ number: UInt16) -> Int { Int(number) & (capacity - 1) }
}
