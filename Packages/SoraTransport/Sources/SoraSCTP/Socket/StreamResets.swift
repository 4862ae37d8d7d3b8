import SoraMedia
import SoraWire

/// Resets of streams, of both directions (RFC 6525): one request of each end is under way at a time.
struct StreamResets {
  enum Result {
    static let nothingToDo: UInt32 = 0
    static let performed: UInt32 = 1
    static let denied: UInt32 = 2
    static let wrongStream: UInt32 = 3
    static let badSequence: UInt32 = 5
    static let inProgress: UInt32 = 6
  }

  private struct Request {
    var sequence: UInt32
    var streams: [UInt16]
    var chunk: [UInt8]
  }

  /// A request of the peer whose data hasn't all come.
  private struct Deferred {
    var sequence: UInt32
    var streams: [UInt16]
    var lastTSN: Int64
  }

  /// Streams in one request: it fits into any packet.
  private static let batch = 200

  private var waiting: [UInt16] = []
  private var request: Request?
  private var timer = BackoffTimer()
  private var isDue = false
  private var nextSequence: UInt32
  private var expectedSequence: UInt32
  /// The last answer, for a request that comes again.
  private var lastResult: UInt32 = Result.nothingToDo
  private var deferred: Deferred?
  private let errorLimit: Int?

  init(localFirst: UInt32, peerFirst: UInt32, errorLimit: Int?) {
    nextSequence = localFirst
    expectedSequence = peerFirst
    self.errorLimit = errorLimit
  }

  var deadline: Instant? { timer.deadline }
  var isIdle: Bool { waiting.isEmpty && request == nil }

  // MARK: - Outgoing

  mutating func want(_ streams: [UInt16]) {
    for stream in streams where !waiting.contains(stream) { waiting.append(stream) }
  }

  /// The request that is to leave now, if any: for streams of which all was sent, up to `lastTSN`.
  mutating func next(
    _ queue: SendQueue, lastTSN: Int64, timeout: Int64, longest: Int64, at now: Instant
  ) -> [UInt8]? {
    if request == nil, !waiting.isEmpty {
      let ready = waiting.filter { queue.buffered($0) == 0 }.prefix(StreamResets.batch)
      guard !ready.isEmpty else { return nil }
      waiting.removeAll { ready.contains($0) }
      var value = [UInt8](bigEndian: nextSequence)
      // The answer to a request that the peer may have made: the one that it made last.
      value.append(bigEndian: expectedSequence &- 1)
      value.append(bigEndian: TSN.wire(lastTSN))
      for stream in ready { value.append(bigEndian: stream) }
      request = Request(
        sequence: nextSequence, streams: Array(ready),
        chunk: ChunkBytes.chunk(
          ChunkType.reconfiguration, ChunkBytes.parameter(ParameterType.outgoingReset, value)))
      nextSequence &+= 1
      timer = BackoffTimer()
      isDue = true
    }
    guard isDue, let request else { return nil }
    isDue = false
    timer.start(at: now, timeout: timeout, longest: longest)
    return request.chunk
  }

  /// `false` when the peer hasn't answered for too long.
  mutating func poll(at now: Instant) -> Bool {
    guard timer.expire(at: now) else { return true }
    if let errorLimit, timer.expirations > errorLimit { return false }
    isDue = request != nil
    return true
  }

  // MARK: - Incoming

  enum Answer {
    case none
    case reset([UInt16])
    case refused([UInt16])
  }

  /// Takes the peer's response to a request of this end.
  mutating func response(_ value: RawSpan, timeout: Int64, longest: Int64, at now: Instant)
    -> Answer
  {
    guard value.byteCount >= 8, let request, value.u32(0) == request.sequence else { return .none }
    switch value.u32(4) {
    case Result.nothingToDo, Result.performed:
      finish()
      return .reset(request.streams)
    case Result.inProgress:
      // It asks for patience, and will tell; or is asked again.
      timer = BackoffTimer()
      timer.start(at: now, timeout: timeout, longest: longest)
      return .none
    default:
      finish()
      return .refused(request.streams)
    }
  }

  private mutating func finish() {
    request = nil
    isDue = false
    timer.stop()
  }

  enum Incoming {
    /// Answer with this result.
    case answer(sequence: UInt32, result: UInt32)
    /// The peer counts these streams from 0, all where there are none; answer that it was done.
    case reset(sequence: UInt32, [UInt16])
    case malformed
  }

  /// Takes a request of the peer for what it sends. `received` is the cumulative TSN of what came.
  mutating func outgoingRequest(
    _ value: RawSpan, received: Int64, streamLimit: UInt16, isBusy: Bool
  ) -> Incoming {
    guard value.byteCount >= 12, value.byteCount % 2 == 0 else { return .malformed }
    let sequence = value.u32(0)
    if sequence == expectedSequence &- 1, deferred == nil {
      return .answer(sequence: sequence, result: lastResult)
    }
    guard sequence == expectedSequence || sequence == deferred?.sequence else {
      return .answer(sequence: sequence, result: Result.badSequence)
    }
    guard !isBusy else { return .answer(sequence: sequence, result: Result.inProgress) }
    var streams: [UInt16] = []
    for offset in stride(from: 12, to: value.byteCount, by: 2) {
      guard value.u16(offset) < streamLimit else {
        return answer(sequence, Result.wrongStream)
      }
      streams.append(value.u16(offset))
    }
    let lastTSN = TSN.extended(value.u32(8), near: received)
    guard lastTSN <= received else {
      // Its data is on the way still (RFC 6525 §5.2.2).
      deferred = Deferred(sequence: sequence, streams: streams, lastTSN: lastTSN)
      expectedSequence = sequence &+ 1
      return .answer(sequence: sequence, result: Result.inProgress)
    }
    _ = answer(sequence, Result.performed)
    deferred = nil
    return .reset(sequence: sequence, streams)
  }

  /// The deferred request of the peer, when all its data has come by now.
  mutating func takeDeferred(received: Int64) -> (sequence: UInt32, streams: [UInt16])? {
    guard let waiting = deferred, waiting.lastTSN <= received else { return nil }
    deferred = nil
    lastResult = Result.performed
    return (waiting.sequence, waiting.streams)
  }

  /// Takes a request of the peer that this end shall reset what it sends: the streams, all where there are none, or the answer.
  mutating func incomingRequest(_ value: RawSpan, streamLimit: UInt16) -> Incoming {
    guard value.byteCount >= 4, value.byteCount % 2 == 0 else { return .malformed }
    let sequence = value.u32(0)
    guard sequence == expectedSequence else {
      return .answer(
        sequence: sequence,
        result: sequence == expectedSequence &- 1 ? lastResult : Result.badSequence)
    }
    var streams: [UInt16] = []
    for offset in stride(from: 4, to: value.byteCount, by: 2) {
      guard value.u16(offset) < streamLimit else { return answer(sequence, Result.wrongStream) }
      streams.append(value.u16(offset))
    }
    _ = answer(sequence, Result.performed)
    return .reset(sequence: sequence, streams)
  }

  /// Refuses a request that this end doesn't grant: of TSNs and of more streams.
  mutating func refuse(_ value: RawSpan) -> Incoming {
    guard value.byteCount >= 4 else { return .malformed }
    let sequence = value.u32(0)
    if sequence == expectedSequence &- 1 {
      return .answer(sequence: sequence, result: lastResult)
    }
    guard sequence == expectedSequence else {
      return .answer(sequence: sequence, result: Result.badSequence)
    }
    return answer(sequence, Result.denied)
  }

  private mutating func answer(_ sequence: UInt32, _ result: UInt32) -> Incoming {
    expectedSequence = sequence &+ 1
    lastResult = result
    deferred = nil
    return .answer(sequence: sequence, result: result)
  }

  static func responseChunk(sequence: UInt32, result: UInt32) -> [UInt8] {
    var value = [UInt8](bigEndian: sequence)
    value.append(bigEndian: result)
    return ChunkBytes.chunk(
      ChunkType.reconfiguration,
      ChunkBytes.parameter(ParameterType.reconfigurationResponse, value))
  }
}
