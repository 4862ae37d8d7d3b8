import SoraMedia
import SoraRTP

/// Where a publisher's packets stand in one subscriber's stream: numbers, timestamps, picture ids and numbers of frames, which all go
/// on when the subscriber is sent another source. Plain memory.
struct PacketRewriter {
  /// What of a track decides how its packets are moved.
  struct Stream {
    var kind: MediaKind
    /// Hz.
    var clockRate: Int
    var pictures: PictureRewriter.Format?
  }

  private(set) var numbers: SequenceRewriter
  private(set) var timestamps: TimestampRewriter
  private(set) var pictures: PictureRewriter
  private(set) var frameNumbers = FrameNumberRewriter()
  /// The newest number that was kept for a packet and left without it, before others that wait; nil where none do.
  private var filledAhead: UInt16?

  /// Begins anywhere (RFC 3550 §5.1); the lower half keeps the first wrap away from the first losses.
  init(for stream: Stream, _ random: RandomSource) {
    let first = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    numbers = SequenceRewriter(capacity: stream.kind == .audio ? 64 : 1024, first: first)
    timestamps = Self.timestamps(stream, random)
    pictures = PictureRewriter(stream.pictures)
  }

  private static func timestamps(_ stream: Stream, _ random: RandomSource) -> TimestampRewriter {
    TimestampRewriter(
      clockRate: Int64(stream.clockRate), offset: UInt32(truncatingIfNeeded: random.next()))
  }

  /// Goes on where this stands with another track, on the same source of the subscriber's. Nothing of before can be sent again.
  func following(_ stream: Stream, _ random: RandomSource) -> PacketRewriter {
    var next = self
    next.rebase()
    next.numbers.forget()
    if timestamps.clockRate != Int64(stream.clockRate) {
      next.timestamps = Self.timestamps(stream, random)
    }
    if pictures.format != stream.pictures { next.pictures = PictureRewriter(stream.pictures) }
    return next
  }

  /// Another source follows.
  ///
  /// - Parameters:
  ///   - number: packets that wait from here on won't leave; nil where all will.
  ///   - expected: the subscriber's timestamp of its first packet where reports tell it.
  mutating func rebase(withdrawing number: UInt16? = nil, expecting expected: UInt32? = nil) {
    numbers.rebase(withdrawing: number)
    timestamps.rebase(expecting: expected)
    pictures.rebase()
    frameNumbers.rebase(withdraws: number != nil)
  }

  /// Packets from a number of the subscriber's on haven't left, and are to be taken once more.
  ///
  /// - Returns: the publisher's numbers of them; nil where they aren't known any more.
  mutating func reopen(from number: UInt16) -> (first: UInt16, count: UInt16)? {
    numbers.reopen(from: number)
  }

  /// Takes the newest packet of the publisher's.
  ///
  /// - Parameters:
  ///   - frame: what was decided of its frame; nil of audio.
  ///   - beginsFrame: whether that was decided with this packet.
  ///   - epoch: of its source.
  /// - Returns: its number; nil where it is left out.
  mutating func advance(
    to uploaded: UploadedPacket, forwards: Bool, gapIsLeftOut: Bool, frame: FrameGate.Decision?,
    beginsFrame: Bool, epoch: UInt8, at now: Instant
  ) -> UInt16? {
    if forwards {
      timestamps.align(to: uploaded.header.timestamp, at: now)
      if beginsFrame, let info = uploaded.info {
        pictures.begin(info, leftOut: frame?.leftOut ?? 0)
      }
      let descriptor = uploaded.values.dependencyDescriptor
      if descriptor.count > 0 { frameNumbers.advance(to: descriptor.frameNumber) }
    }
    return numbers.advance(
      to: uploaded.header.sequenceNumber, forwards: forwards, gapIsLeftOut: gapIsLeftOut,
      shift: shift(of: frame, epoch: epoch))
  }

  /// A packet that was missing takes the number that was kept for it.
  mutating func fill(_ number: UInt16, frame: FrameGate.Decision?, epoch: UInt8) {
    numbers.fill(number, shift: shift(of: frame, epoch: epoch))
  }

  private func shift(of frame: FrameGate.Decision?, epoch: UInt8) -> PacketShift {
    var shift = PacketShift()
    shift.epoch = epoch
    shift.timestamp = timestamps.offset
    shift.frameNumber = frameNumbers.shift
    (shift.pictureID, shift.baseLayerIndex) = pictures.shift(leftOut: frame?.leftOut ?? 0)
    return shift
  }

  /// A number that was kept for a packet has left without it.
  mutating func filled(_ number: UInt16) {
    guard sequenceNumber(number, isNewerThan: newestLeft) else { return }
    filledAhead = number
  }

  /// The newest number that has left, with its packet or without.
  var newestLeft: UInt16 { filledAhead ?? timestamps.newestNumber }

  /// Whether a number has left that is newer than what was sent: others before it wait.
  var hasFilledAhead: Bool { filledAhead != nil }

  /// A packet was sent, with the subscriber's number, timestamp and number of its frame; nil without one.
  mutating func sent(_ number: UInt16, _ timestamp: UInt32, frame: UInt16?) {
    timestamps.sent(number, timestamp)
    if let ahead = filledAhead, !sequenceNumber(ahead, isNewerThan: number) { filledAhead = nil }
    if let frame { frameNumbers.left(frame) }
  }
}
