/// What one end has sent and the other has got, and what of that is wrong.
struct Ledger {
  private struct Sent {
    var message: Message
    /// How often the stream had been reset before.
    var generation: Int
    var isReceived = false
  }

  private var sent: [UInt32: Sent] = [:]
  private var sendGenerations: [UInt16: Int] = [:]
  private var receiveGenerations: [UInt16: Int] = [:]
  /// The last ordered message that came on a stream.
  private var lastOrdered: [UInt16: UInt32] = [:]
  private(set) var problems: [String] = []
  private(set) var receivedCount = 0
  private(set) var receivedBytes = 0
  /// Reliable messages that haven't come.
  private(set) var outstanding = 0

  mutating func noteSent(_ message: Message) {
    sent[message.id] = Sent(
      message: message, generation: sendGenerations[message.stream, default: 0])
    if message.reliability == .reliable { outstanding += 1 }
  }

  /// The sender has closed its half of a stream: what it sends there from now on is of another generation.
  mutating func noteReset(by stream: UInt16) { sendGenerations[stream, default: 0] += 1 }

  mutating func noteReceived(_ received: EndEvent.Received) {
    guard var entry = sent[received.id] else {
      return problems.append("message \(received.id) was never sent")
    }
    let message = entry.message
    if entry.isReceived { problems.append("message \(message.id) came twice") }
    if received.stream != message.stream {
      problems.append(
        "message \(message.id) of stream \(message.stream) came on \(received.stream)")
    }
    if received.bytes != message.bytes {
      problems.append(
        "message \(message.id) of \(message.size) bytes came as \(received.bytes.count) other ones")
    }
    if entry.generation != receiveGenerations[message.stream, default: 0] {
      problems.append(
        "message \(message.id) was sent in stream \(message.stream)'s generation \(entry.generation), and came in "
          + "\(receiveGenerations[message.stream, default: 0])")
    }
    if message.isOrdered {
      if let last = lastOrdered[message.stream], last > message.id {
        problems.append("stream \(message.stream): message \(message.id) came after \(last)")
      }
      lastOrdered[message.stream] = message.id
    }
    receivedCount += 1
    receivedBytes += message.size
    if message.reliability == .reliable, !entry.isReceived { outstanding -= 1 }
    entry.isReceived = true
    sent[message.id] = entry
  }

  /// The receiver was told that the sender has closed its half of a stream. All reliable messages of it are there by then.
  mutating func noteIncomingReset(of stream: UInt16) {
    let generation = receiveGenerations[stream, default: 0]
    for entry in sent.values
    where entry.message.stream == stream && entry.generation == generation && !entry.isReceived
      && entry.message.reliability == .reliable
    {
      problems.append("stream \(stream) was closed before message \(entry.message.id) came")
    }
    receiveGenerations[stream] = generation + 1
  }

  /// The association has ended as both wanted.
  mutating func noteEnd(abandoned: Set<UInt32>?, everythingArrives: Bool) {
    for entry in sent.values where !entry.isReceived {
      let message = entry.message
      if message.reliability == .reliable || everythingArrives {
        problems.append("message \(message.id) (\(message.reliability)) never came")
      } else if let abandoned, !abandoned.contains(message.id) {
        problems.append("message \(message.id) neither came nor was given up")
      }
    }
  }
}
