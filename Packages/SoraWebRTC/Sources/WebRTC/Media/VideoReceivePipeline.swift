import Dispatch
import SoraCodecs
import SoraMedia
import Synchronization

/// From encoded frames to a track's pictures: one decoder on a serial queue of its own.
///
/// `decode` comes from the network loop and never blocks it. When the decoder falls behind by more than
/// `maxPending` frames, what waits is dropped and a key frame is asked for: late pictures help nobody.
final class VideoReceivePipeline: @unchecked Sendable {
  // @unchecked: `decoder` is touched on `queue` alone; everything shared is in `shared`.

  struct Statistics: Sendable {
    var framesDecoded: UInt64 = 0
    var keyFramesDecoded: UInt64 = 0
    var framesDropped: UInt64 = 0
    var decodeErrors: UInt64 = 0
    var totalDecodeTime: Duration = .zero
    /// Pauses between shown frames longer than max(3 × average interval, average + 150 ms) (W3C `freezeCount`).
    var freezeCount: UInt64 = 0
    var totalFreezesDuration: Duration = .zero
    var width = 0
    var height = 0
  }

  fileprivate struct Shared {
    var pending: [EncodedFrame] = []
    var isScheduled = false
    var needsKeyFrame = true
    var isStopped = false
    var lastShown: Instant?
    var averageInterval = 0.0
    var statistics = Statistics()
  }

  private static let maxPending = 10

  private let queue = DispatchQueue(label: "sora.video.decode", qos: .userInitiated)
  private let shared = Mutex(Shared())
  private let makeDecoder: @Sendable () throws -> any VideoDecoder
  private let needsKeyFrame: @Sendable () -> Void
  private let output: @Sendable (VideoFrame) -> Void
  private let now: @Sendable () -> Instant
  private var decoder: (any VideoDecoder)?

  /// - Parameters:
  ///   - needsKeyFrame: called on the decoder's queue when it can't go on without a key frame.
  ///   - output: takes each picture, on the decoder's queue.
  init(
    now: @escaping @Sendable () -> Instant,
    makeDecoder: @escaping @Sendable () throws -> any VideoDecoder,
    needsKeyFrame: @escaping @Sendable () -> Void,
    output: @escaping @Sendable (VideoFrame) -> Void
  ) {
    self.now = now
    self.makeDecoder = makeDecoder
    self.needsKeyFrame = needsKeyFrame
    self.output = output
  }

  var statistics: Statistics { shared.withLock { $0.statistics } }

  /// Queues one frame for decoding. From the network loop.
  func decode(_ frame: EncodedFrame) {
    let (schedule, overflow) = shared.withLock { shared -> (Bool, Bool) in
      guard !shared.isStopped else { return (false, false) }
      if shared.needsKeyFrame && !frame.isKeyFrame {
        shared.statistics.framesDropped &+= 1
        return (false, false)
      }
      if frame.isKeyFrame {
        shared.needsKeyFrame = false
      } else if shared.pending.count >= Self.maxPending {
        shared.statistics.framesDropped &+= UInt64(shared.pending.count + 1)
        shared.pending.removeAll(keepingCapacity: true)
        shared.needsKeyFrame = true
        return (false, true)
      }
      shared.pending.append(frame)
      guard !shared.isScheduled else { return (false, false) }
      shared.isScheduled = true
      return (true, false)
    }
    if schedule { queue.async { self.decodePending() } }
    if overflow { queue.async { self.needsKeyFrame() } }
  }

  /// Decodes no more, and frees the decoder.
  func stop() {
    shared.withLock {
      $0.isStopped = true
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
        return shared.pending.removeFirst()
      }
      guard let frame else { return }
      decodeNow(frame)
    }
  }

  private func decodeNow(_ frame: EncodedFrame) {
    let started = now()
    do {
      let decoder = try self.decoder ?? makeDecoder()
      self.decoder = decoder
      guard let picture = try decoder.decode(frame) else { return }
      let shown = now()
      shared.withLock { $0.count(frame, picture, took: shown - started, shown: shown) }
      output(picture)
    } catch {
      shared.withLock {
        $0.statistics.decodeErrors &+= 1
        // What waits refers to the frame that is broken, up to the next key frame.
        let next = $0.pending.firstIndex { $0.isKeyFrame }
        $0.statistics.framesDropped &+= UInt64(next ?? $0.pending.count)
        $0.pending.removeFirst(next ?? $0.pending.count)
        $0.needsKeyFrame = next == nil
      }
      needsKeyFrame()
    }
  }
}

extension VideoReceivePipeline.Shared {
  fileprivate mutating func count(
    _ frame: EncodedFrame, _ picture: VideoFrame, took elapsed: Duration, shown: Instant
  ) {
    statistics.framesDecoded &+= 1
    if frame.isKeyFrame { statistics.keyFramesDecoded &+= 1 }
    statistics.totalDecodeTime += elapsed
    statistics.width = picture.width
    statistics.height = picture.height
    if let last = lastShown {
      let interval = (shown - last).inSeconds
      // W3C webrtc-stats freezeCount.
      if averageInterval > 0, interval > max(3 * averageInterval, averageInterval + 0.15) {
        statistics.freezeCount &+= 1
        statistics.totalFreezesDuration += shown - last
      } else {
        averageInterval = averageInterval == 0 ? interval : averageInterval * 0.97 + interval * 0.03
      }
    }
    lastShown = shown
  }
}
