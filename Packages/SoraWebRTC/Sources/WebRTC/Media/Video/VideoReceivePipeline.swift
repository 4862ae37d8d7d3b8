package import Dispatch
package import SoraCodecs
package import SoraMedia
import Synchronization

/// From encoded frames to a track's frames: one decoder on a serial queue of its own.
///
/// `decode` comes from the network loop and never blocks it. When the decoder falls behind (`maximumWait`, `maximumPending`), what
/// waits is dropped up to the next key frame, and one is asked for: late frames help nobody.
package final class VideoReceivePipeline: @unchecked Sendable {
  // @unchecked: `decoder` is touched on `queue` alone; everything shared is in `shared`.

  package struct Statistics: Sendable {
    package var framesDecoded: UInt64 = 0
    package var keyFramesDecoded: UInt64 = 0
    /// Frames that were never decoded: late, or of no use without a key frame.
    package var framesDropped: UInt64 = 0
    package var decodeErrors: UInt64 = 0
    /// Frames that the decoder says are damaged. They are shown.
    package var framesCorrupted: UInt64 = 0
    /// How often a key frame was asked for.
    package var keyFrameRequests: UInt64 = 0
    package var totalDecodeTime: Duration = .zero
    /// Pauses between shown frames longer than max(3 × average interval, average + 150 ms) (W3C `freezeCount`).
    package var freezeCount: UInt64 = 0
    package var totalFreezesDuration: Duration = .zero
    /// Pauses between shown frames of five seconds or more (W3C `pauseCount`).
    package var pauseCount: UInt64 = 0
    package var totalPausesDuration: Duration = .zero
    /// Time between shown frames, and of its squares in seconds.
    package var totalInterFrameDelay: Duration = .zero
    package var totalSquaredInterFrameDelay = 0.0
    package var width = 0
    package var height = 0
    /// `VideoDecoder.implementationName`; nil before the first frame.
    package var implementationName: String?
  }

  fileprivate struct Waiting {
    var frame: EncodedFrame
    var since: Instant
  }

  fileprivate struct Shared {
    var pending: [Waiting] = []
    var isScheduled = false
    var needsKeyFrame = true
    var lastRequest: Instant?
    var isStopped = false
    var lastShown: Instant?
    var lastTimestamp: UInt32 = 0
    var averageInterval = 0.0
    var hasToldFailure = false
    var window = FrameWindow()
    var statistics = Statistics()
  }

  /// Frames that may wait for the decoder at all.
  package static let maximumPending = 60
  /// Frames that may wait for longer than `maximumWait`. More come at once where something held them up on their way;
  /// a decoder gets through those faster than a key frame comes.
  package static let toleratedPending = 10
  package static let maximumWait = Duration.milliseconds(500)
  /// An answer can't come sooner over most paths; the RTP session repeats and limits requests by the round trip.
  package static let requestInterval = Duration.milliseconds(200)

  private let queue: DispatchQueue
  private let shared = Mutex(Shared())
  private let makeDecoder: @Sendable () throws(CodecError) -> any VideoDecoder
  private let needsKeyFrame: @Sendable () -> Void
  private let output: @Sendable (RawVideoFrame) -> Void
  private let failed: @Sendable (CodecError) -> Void
  private let now: @Sendable () -> Instant
  private var decoder: (any VideoDecoder)?

  /// - Parameters:
  ///   - queue: serial.
  ///   - makeDecoder: called on the decoder's queue with the first frame, and after an error that leaves no other way.
  ///   - needsKeyFrame: called on the decoder's queue when it can't go on without a key frame: once, and again after
  ///     `requestInterval` while frames come and none of them is one.
  ///   - output: takes each decoded frame, on the decoder's queue.
  ///   - failed: told once, on the decoder's queue, of an error that no key frame cures.
  package init(
    queue: DispatchQueue = DispatchQueue(label: "sora.video.decode", qos: .userInitiated),
    now: @escaping @Sendable () -> Instant,
    makeDecoder: @escaping @Sendable () throws(CodecError) -> any VideoDecoder,
    needsKeyFrame: @escaping @Sendable () -> Void,
    output: @escaping @Sendable (RawVideoFrame) -> Void,
    failed: @escaping @Sendable (CodecError) -> Void = { _ in }
  ) {
    self.queue = queue
    self.now = now
    self.makeDecoder = makeDecoder
    self.needsKeyFrame = needsKeyFrame
    self.output = output
    self.failed = failed
  }

  /// Frames that were decoded within the last second.
  package func framesPerSecond(at now: Instant) -> Int {
    shared.withLock { $0.window.count(at: now) }
  }

  package var statistics: Statistics { shared.withLock { $0.statistics } }

  /// The frame that was decoded last; nil before the first. From any thread.
  package var played: PlayedMedia? {
    shared.withLock { shared in
      shared.lastShown.map {
        PlayedMedia(rtpTimestamp: shared.lastTimestamp, time: $0, delay: .zero)
      }
    }
  }

  /// Queues one frame for decoding. From the network loop.
  package func decode(_ frame: EncodedFrame) {
    let time = now()
    let (schedule, asks) = shared.withLock { shared -> (Bool, Bool) in
      guard !shared.isStopped else {
        shared.statistics.framesDropped &+= 1
        return (false, false)
      }
      if shared.isFallingBehind(at: time) {
        // Whatever comes now would be shown too late. A key frame starts over without them, others can't.
        shared.statistics.framesDropped &+= UInt64(shared.pending.count)
        shared.pending.removeAll(keepingCapacity: true)
        shared.needsKeyFrame = true
      }
      if shared.needsKeyFrame, !frame.isKeyFrame {
        shared.statistics.framesDropped &+= 1
        return (false, shared.takeRequest(at: time))
      }
      shared.needsKeyFrame = false
      shared.pending.append(Waiting(frame: frame, since: time))
      guard !shared.isScheduled else { return (false, false) }
      shared.isScheduled = true
      return (true, false)
    }
    if schedule { queue.async { self.decodePending() } }
    if asks { queue.async { self.needsKeyFrame() } }
  }

  /// Decodes no more, and frees the decoder.
  package func stop() {
    shared.withLock {
      $0.isStopped = true
      $0.statistics.framesDropped &+= UInt64($0.pending.count)
      $0.pending = []
    }
    queue.async { self.decoder = nil }
  }

  private func decodePending() {
    while true {
      let frame = shared.withLock { shared -> EncodedFrame? in
        guard !shared.pending.isEmpty, !shared.isStopped else {
          shared.isScheduled = false
          return nil
        }
        return shared.pending.removeFirst().frame
      }
      guard let frame else { return }
      decodeNow(frame)
    }
  }

  private func decodeNow(_ frame: EncodedFrame) {
    let started = now()
    do throws(CodecError) {
      let decoder = try obtainDecoder()
      guard let decoded = try decoder.decode(frame) else { return }
      let isCorrupted = decoder.isLastFrameCorrupted
      let shown = now()
      let asks = shared.withLock { shared in
        shared.count(frame, decoded, took: shown - started, shown: shown)
        guard isCorrupted else { return false }
        shared.statistics.framesCorrupted &+= 1
        return shared.takeRequest(at: shown)
      }
      output(decoded)
      if asks { needsKeyFrame() }
    } catch {
      // A decoder that has failed for itself, or on a key frame, can't be trusted any more.
      if !error.isCuredByKeyFrame || frame.isKeyFrame { decoder = nil }
      let time = now()
      let (asks, tells) = shared.withLock { shared in
        let tells = !error.isCuredByKeyFrame && !shared.hasToldFailure
        if tells { shared.hasToldFailure = true }
        return (shared.recover(at: time), tells)
      }
      if tells { failed(error) }
      if asks { needsKeyFrame() }
    }
  }

  private func obtainDecoder() throws(CodecError) -> any VideoDecoder {
    if let decoder { return decoder }
    let made = try makeDecoder()
    decoder = made
    shared.withLock { $0.statistics.implementationName = made.implementationName }
    return made
  }
}

extension VideoReceivePipeline.Shared {
  /// Whether so much waits, or for so long, that a new start is sooner than the rest of it.
  fileprivate func isFallingBehind(at now: Instant) -> Bool {
    guard let oldest = pending.first, pending.count >= VideoReceivePipeline.toleratedPending else {
      return false
    }
    return pending.count >= VideoReceivePipeline.maximumPending
      || now - oldest.since > VideoReceivePipeline.maximumWait
  }

  /// Whether to ask for a key frame now, or an answer to the last request may be on its way yet.
  fileprivate mutating func takeRequest(at now: Instant) -> Bool {
    if let lastRequest, now - lastRequest < VideoReceivePipeline.requestInterval { return false }
    lastRequest = now
    statistics.keyFrameRequests &+= 1
    return true
  }

  /// A frame couldn't be decoded: what waits refers to it, up to the next key frame. Returns whether to ask for one.
  fileprivate mutating func recover(at now: Instant) -> Bool {
    statistics.decodeErrors &+= 1
    let next = pending.firstIndex { $0.frame.isKeyFrame }
    statistics.framesDropped &+= UInt64(next ?? pending.count)
    pending.removeFirst(next ?? pending.count)
    guard next == nil else { return false }
    needsKeyFrame = true
    return takeRequest(at: now)
  }

  fileprivate mutating func count(
    _ frame: EncodedFrame, _ decoded: RawVideoFrame, took elapsed: Duration, shown: Instant
  ) {
    statistics.framesDecoded &+= 1
    if frame.isKeyFrame { statistics.keyFramesDecoded &+= 1 }
    statistics.totalDecodeTime += elapsed
    statistics.width = decoded.width
    statistics.height = decoded.height
    if let last = lastShown {
      let interval = (shown - last).inSeconds
      statistics.totalInterFrameDelay += shown - last
      statistics.totalSquaredInterFrameDelay += interval * interval
      if interval >= 5 {
        statistics.pauseCount &+= 1
        statistics.totalPausesDuration += shown - last
      }
      // W3C webrtc-stats freezeCount.
      if averageInterval > 0, interval > max(3 * averageInterval, averageInterval + 0.15) {
        statistics.freezeCount &+= 1
        statistics.totalFreezesDuration += shown - last
      } else {
        averageInterval = averageInterval == 0 ? interval : averageInterval * 0.97 + interval * 0.03
      }
    }
    lastShown = shown
    window.add(shown)
    lastTimestamp = frame.rtpTimestamp
  }
}
