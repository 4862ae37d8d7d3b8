/// Messages that are sent together and again until the peer shows that it has them (RFC 6347 §4.2.4, RFC 9147 §5.8).
package struct Flight {
  package struct Message {
    package enum Content {
      case handshake(HandshakeMessage)
      /// Only 1.2 has it.
      case changeCipherSpec
    }
    var content: Content
    var epoch: UInt64
    /// What the peer acknowledged.
    var acknowledged = ByteRanges()
    var isAcknowledged = false

    package init(content: Content, epoch: UInt64) {
      self.content = content
      self.epoch = epoch
    }

    /// Bytes of the message's body.
    var length: Int {
      if case .handshake(let message) = content { return message.body.count }
      return 0
    }
  }

  /// A part of a message, which a record carries.
  package struct Part: Equatable {
    package var message: Int
    package var range: Range<Int>

    package init(message: Int, range: Range<Int>) {
      self.message = message
      self.range = range
    }
  }

  /// Which part of which message a record carried.
  private struct Sent {
    var number: RecordNumber
    var part: Part
    var isAcknowledged = false
    /// Sent again in a later record.
    var isReplaced = false
  }

  /// Records to remember at most; the peer can't acknowledge what is forgotten, and gets it again.
  private static let sentLimit = 512

  private(set) var messages: [Message]
  private var sent: [Sent] = []

  init(_ messages: [Message]) { self.messages = messages }

  var isAcknowledged: Bool { messages.allSatisfy(\.isAcknowledged) }

  /// Whether it is about this end's next keys (RFC 9147 §8).
  var isKeyUpdate: Bool {
    guard case .handshake(let message) = messages.first?.content else { return false }
    return message.type == HandshakeType.keyUpdate
  }

  /// What the peer hasn't acknowledged.
  var unacknowledged: [Part] {
    var parts: [Part] = []
    for (index, message) in messages.enumerated() where !message.isAcknowledged {
      if message.length == 0 { parts.append(Part(message: index, range: 0..<0)) }
      for gap in message.acknowledged.gaps(message.length) {
        parts.append(Part(message: index, range: gap))
      }
    }
    return parts
  }

  mutating func note(_ number: RecordNumber, of part: Part) {
    guard sent.count < Self.sentLimit else { return }
    for index in sent.indices
    where sent[index].part.message == part.message && sent[index].part.range.overlaps(part.range) {
      sent[index].isReplaced = true
    }
    sent.append(Sent(number: number, part: part))
  }

  /// Takes the peer's word for what it has; `false` where that says nothing new.
  mutating func acknowledge(_ numbers: [RecordNumber]) -> Bool {
    let set = Set(numbers)
    var isNews = false
    for index in sent.indices where !sent[index].isAcknowledged && set.contains(sent[index].number)
    {
      sent[index].isAcknowledged = true
      isNews = true
      let message = sent[index].part.message
      messages[message].acknowledged.insert(sent[index].part.range)
      if case .handshake(let content) = messages[message].content,
        messages[message].acknowledged.covers(content.body.count)
      {
        messages[message].isAcknowledged = true
      }
    }
    return isNews
  }

  /// Parts that were sent before something that arrived, and so are probably lost.
  func overtaken() -> [Part] {
    guard let newest = sent.filter(\.isAcknowledged).map(\.number).max() else { return [] }
    return sent.filter {
      !$0.isAcknowledged && !$0.isReplaced && $0.number < newest
        && !messages[$0.part.message].isAcknowledged
    }.map(\.part)
  }
}
