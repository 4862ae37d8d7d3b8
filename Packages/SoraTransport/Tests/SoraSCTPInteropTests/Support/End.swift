import SoraMedia

/// A message of a test. Its id travels as the payload protocol identifier, so that the smallest has one.
struct Message: Sendable {
  enum Reliability: Sendable, Equatable {
    case reliable
    case retransmissions(Int)
    case lifetime(milliseconds: Int)
  }

  var id: UInt32
  var stream: UInt16
  var isOrdered: Bool
  var reliability: Reliability
  var size: Int

  /// A pure function of the id and the size.
  var bytes: [UInt8] {
    let random = RandomSource(seed: UInt64(id) << 32 | UInt64(size))
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      let memory = UnsafeMutableRawBufferPointer(buffer)
      while count < size {
        var word = random.next()
        let part = min(8, size - count)
        withUnsafeBytes(of: &word) { bytes in
          memory[count..<count + part].copyBytes(from: bytes.prefix(part))
        }
        count += part
      }
    }
  }
}

/// What an end tells.
enum EndEvent: Equatable {
  struct Received: Equatable {
    var stream: UInt16
    var id: UInt32
    var bytes: [UInt8]
  }

  case up(interleaving: Bool)
  case received(Received)
  /// The other end has closed its half of a stream.
  case incomingReset(UInt16)
  /// This end's half is closed.
  case outgoingReset(UInt16)
  case resetFailed(UInt16)
  case ended(Ending)

  enum Ending: Equatable {
    case shutDown
    case aborted
    case neverUp
  }
}

enum Acceptance: Equatable {
  case accepted
  /// There is no room at present, or something similar goes on.
  case later
  case refused(String)
}

/// One end of an association: ours, or usrsctp's.
protocol End: AnyObject {
  /// When `poll` is due; nil for one whose timers `UsrsctpClock` runs.
  var nextDeadline: Instant? { get }
  func listen(at now: Instant)
  func connect(at now: Instant)
  func poll(at now: Instant)
  func receive(_ packet: [UInt8], at now: Instant)
  func nextPacket(at now: Instant) -> [UInt8]?
  func nextEvent() -> EndEvent?
  /// `bytes` are the message's, which take long to make.
  func send(_ message: Message, _ bytes: [UInt8], at now: Instant) -> Acceptance
  /// Closes this end's half of a stream.
  func reset(_ stream: UInt16, at now: Instant) -> Acceptance
  func shutDown(at now: Instant)
  func abort(at now: Instant)
  /// Ids of the messages of limited reliability that this end gave up; nil where it doesn't say.
  var abandoned: Set<UInt32>? { get }
  /// Why it has ended before its time, for people.
  var reason: String { get }
}

/// What both kinds of ends are made with.
struct EndSettings {
  var streams: UInt16 = 16
  var offersInterleaving = false
  var mtu = 1200
  var sendBuffer = 1 << 20
  var receiveBuffer = 1 << 20
}
