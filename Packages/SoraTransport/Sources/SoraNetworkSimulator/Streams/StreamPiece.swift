import SoraMedia

/// What one end of a stream sends at once, as a segment of TCP would carry it.
enum StreamPiece {
  /// An opening round trip of the client's, and its answer; so many more follow.
  case hello(more: Int)
  case answer(more: Int)
  case bytes([UInt8])
  case end(String)

  var count: Int {
    switch self {
    case .bytes(let bytes): bytes.count
    case .hello, .answer, .end: 60
    }
  }
}

/// A piece with its place in the order, and when it was sent first.
struct NumberedPiece {
  let piece: StreamPiece
  let number: Int
  let since: Instant
}

/// Puts the pieces that arrive in order again.
struct PieceReassembly {
  private var early: [Int: StreamPiece] = [:]
  private var nextNumber = 0

  mutating func insert(_ piece: NumberedPiece) { early[piece.number] = piece.piece }

  /// Takes out the next piece; nil while it hasn't come.
  mutating func next() -> StreamPiece? {
    guard let piece = early.removeValue(forKey: nextNumber) else { return nil }
    nextNumber += 1
    return piece
  }

  /// Forgets what has come too early.
  mutating func removeAll() { early = [:] }
}

/// Numbers what is sent, keeps what the links didn't let through, in order, and says when that is tried again.
struct PieceRetransmission {
  /// What calls for the next try; nil where none is due.
  var callback: SimulationCallback?
  private var nextNumber = 0
  private var unsent: [NumberedPiece] = []
  /// Tries of which none got through.
  private var attempt = 0
  /// Whether the far end is about to tell of the gap.
  private var isTold = false

  /// Whether anything was sent.
  var hasBegun: Bool { nextNumber > 0 }
  var isEmpty: Bool { unsent.isEmpty }

  mutating func number(_ piece: StreamPiece, at now: Instant) -> NumberedPiece {
    defer { nextNumber += 1 }
    return NumberedPiece(piece: piece, number: nextNumber, since: now)
  }

  /// A piece didn't get through.
  mutating func insert(_ piece: NumberedPiece) { unsent.append(piece) }

  mutating func removeAll() { unsent = [] }

  /// A later piece got through: what arrives behind a gap tells of the gap (RFC 8985 §6.2).
  ///
  /// - Returns: whether there is a gap that wasn't told of before.
  mutating func tellOfGap() -> Bool {
    guard !unsent.isEmpty, !isTold else { return false }
    isTold = true
    attempt = 0
    return true
  }

  /// Tries all of it again. While nothing gets through, only the first piece is tried.
  ///
  /// - Parameter send: says whether a piece gets through.
  mutating func sendAgain(_ send: (NumberedPiece) -> Bool) {
    callback = nil
    isTold = false
    var hasPassed = false
    var rest: [NumberedPiece] = []
    for piece in unsent {
      if (hasPassed || rest.isEmpty) && send(piece) {
        hasPassed = true
      } else {
        rest.append(piece)
      }
    }
    unsent = rest
    attempt = hasPassed ? 0 : attempt + 1
  }

  /// The time until the next try: two round trips for a piece that nothing follows, then twice as long each time (RFC 8985 §7.2).
  func pause(roundTrip: Duration) -> Duration {
    let first = max(roundTrip * 2, .milliseconds(20))
    return min(first * (1 << min(attempt, 12)), .seconds(8))
  }

  /// How long the first piece has been tried.
  func waited(at now: Instant) -> Duration { unsent.first.map { now - $0.since } ?? .zero }
}
