import SoraMedia

/// Messages that are sent together and again until the peer shows that it has them (RFC 6347 §4.2.4, RFC 9147 §5.8).
struct Flight {
  struct Message {
    enum Content {
      case handshake(HandshakeMessage)
      /// Only 1.2 has it.
      case changeCipherSpec
    }
    var content: Content
    var epoch: UInt64
    /// What the peer acknowledged.
    var acknowledged = ByteRanges()
    var isAcknowledged = false
  }

  /// Which part of which message a record carried.
  struct Sent {
    var number: RecordNumber
    var message: Int
    var range: Range<Int>
    var isAcknowledged = false
    /// Sent again in a later record.
    var isReplaced = false
  }

  /// Records to remember at most; the peer can't acknowledge what is forgotten, and gets it again.
  private static let sentLimit = 512

  var messages: [Message]
  private(set) var sent: [Sent] = []
  /// Until the next time it is sent.
  var timeout: Duration
  var deadline: Instant?
  /// When it was last sent, as a whole or in part.
  var lastSent: Instant
  /// From the last transmission to the first answer: the path's round trip, or less where an earlier transmission was
  /// answered.
  private(set) var roundTrip: Duration?
  /// Timeouts so far.
  var timeouts = 0

  init(_ messages: [Message], timeout: Duration, at now: Instant) {
    self.messages = messages
    self.timeout = timeout
    lastSent = now
  }

  mutating func isAnswered(at now: Instant) {
    if roundTrip == nil { roundTrip = now - lastSent }
  }

  var isAcknowledged: Bool { messages.allSatisfy(\.isAcknowledged) }

  mutating func note(_ number: RecordNumber, message: Int, _ range: Range<Int>) {
    guard sent.count < Self.sentLimit else { return }
    for index in sent.indices
    where sent[index].message == message && sent[index].range.overlaps(range) {
      sent[index].isReplaced = true
    }
    sent.append(Sent(number: number, message: message, range: range))
  }

  /// Takes the peer's word for what it has; `false` where that says nothing new.
  mutating func acknowledge(_ numbers: [RecordNumber]) -> Bool {
    let set = Set(numbers)
    var isNews = false
    for index in sent.indices where !sent[index].isAcknowledged && set.contains(sent[index].number)
    {
      sent[index].isAcknowledged = true
      isNews = true
      let message = sent[index].message
      messages[message].acknowledged.insert(sent[index].range)
      if case .handshake(let content) = messages[message].content,
        messages[message].acknowledged.covers(content.body.count)
      {
        messages[message].isAcknowledged = true
      }
    }
    return isNews
  }

  /// Parts that were sent before something that arrived, and so are probably lost.
  func overtaken() -> [(message: Int, range: Range<Int>)] {
    guard let newest = sent.filter(\.isAcknowledged).map(\.number).max() else { return [] }
    return sent.filter {
      !$0.isAcknowledged && !$0.isReplaced && $0.number < newest
        && !messages[$0.message].isAcknowledged
    }.map { ($0.message, $0.range) }
  }
}
