import Dispatch
import SoraCodecs
import SoraMedia
import Synchronization

/// From a source's frames to encoded frames: one encoder on a serial queue of its own.
///
/// No frame ever waits behind another: while one is being encoded, only the newest that came meanwhile is kept.
/// Frames come on any thread; `output` runs on the encoder's queue.
final class VideoSendPipeline: VideoSink, @unchecked Sendable {
  // @unchecked: `encoder` and `fps` are touched on `queue` alone; everything shared is in `shared`.

  struct Statistics: Sendable {
    var framesEncoded: UInt64 = 0
    var keyFramesEncoded: UInt64 = 0
    /// Frames that a newer one replaced before the encoder was free.
    var framesReplaced: UInt64 = 0
    /// Frames that the encoder's rate control left out.
    var framesDroppedByEncoder: UInt64 = 0
    var encodeErrors: UInt64 = 0
    var totalEncodeTime: Duration = .zero
    var width = 0
    var height = 0
  }

  private struct Shared {
    var pending: VideoFrame?
    var isScheduled = false
    var keyFrameRequested = true
    var targetBitrate: Int
    var isStopped = false
    var statistics = Statistics()
  }

  private let queue = DispatchQueue(label: "sora.video.encode", qos: .userInitiated)
  private let shared: Mutex<Shared>
  private let makeEncoder: @Sendable (VideoFrame, Int) throws -> any VideoEncoder
  private let output: @Sendable (EncodedFrame) -> Void
  private let now: @Sendable () -> Instant
  private weak let track: RTCVideoTrack?
  /// Bits a second that the receiver allows; nil where it sets no limit, and the picture's size does.
  private let limit: Int?
  private var encoder: (any VideoEncoder)?
  private var encoderName = ""
  private var frameRate = FrameRateMeter()
  private var appliedBitrate = 0
  private var appliedRate = 0.0

  /// - Parameters:
  ///   - makeEncoder: called on the encoder's queue with the first frame and the target bitrate.
  ///   - output: takes each encoded frame, on the encoder's queue.
  init(
    track: RTCVideoTrack?, bitrate: Int, limit: Int?, now: @escaping @Sendable () -> Instant,
    makeEncoder: @escaping @Sendable (VideoFrame, Int) throws -> any VideoEncoder,
    output: @escaping @Sendable (EncodedFrame) -> Void
  ) {
    shared = Mutex(Shared(targetBitrate: bitrate))
    self.limit = limit
    self.track = track
    self.now = now
    self.makeEncoder = makeEncoder
    self.output = output
  }

  /// Bits a second to aim for from the next frame on.
  func setTargetBitrate(_ bitsPerSecond: Int) {
    shared.withLock { $0.targetBitrate = bitsPerSecond }
  }

  /// Makes the next frame a key frame.
  func requestKeyFrame() {
    shared.withLock { $0.keyFrameRequested = true }
  }

  /// Takes no more frames, and frees the encoder.
  func stop() {
    shared.withLock {
      $0.isStopped = true
      $0.pending = nil
    }
    queue.async { self.encoder = nil }
  }

  var statistics: Statistics { shared.withLock { $0.statistics } }

  func receive(_ frame: VideoFrame) {
    let schedule = shared.withLock { shared in
      guard !shared.isStopped else { return false }
      if shared.pending != nil { shared.statistics.framesReplaced &+= 1 }
      shared.pending = frame
      guard !shared.isScheduled else { return false }
      shared.isScheduled = true
      return true
    }
    if schedule { queue.async { self.encodePending() } }
  }

  /// More than this shows no difference to most eyes: what libwebrtc stops at for one stream of a size when nobody
  /// says otherwise.
  static func sensibleBitrate(width: Int, height: Int) -> Int {
    switch width * height {
    case ...(320 * 240): 600_000
    case ...(640 * 480): 1_700_000
    case ...(960 * 540): 2_000_000
    case ...(1280 * 720): 2_500_000
    default: 5_000_000
    }
  }

  private func encodePending() {
    while true {
      let work = shared.withLock { shared -> (VideoFrame, Bool, Int)? in
        guard let frame = shared.pending, !shared.isStopped else {
          shared.isScheduled = false
          return nil
        }
        shared.pending = nil
        let keyFrame = shared.keyFrameRequested
        shared.keyFrameRequested = false
        return (frame, keyFrame, shared.targetBitrate)
      }
      guard let (frame, keyFrame, bitrate) = work else { return }
      encode(frame, keyFrame: keyFrame, bitrate: bitrate)
    }
  }

  private func encode(_ captured: VideoFrame, keyFrame: Bool, bitrate target: Int) {
    let bitrate = min(
      target, limit ?? Self.sensibleBitrate(width: captured.width, height: captured.height))
    // W3C mediacapture-main §4.3.1: a disabled video track gives black pictures.
    let frame = track?.isEnabled == false ? captured.blackened() : captured
    let started = now()
    do {
      let encoder = try self.encoder ?? makeEncoder(frame, bitrate)
      self.encoder = encoder
      let rate = frameRate.add(frame.timestamp)
      if bitrate != appliedBitrate || abs(rate - appliedRate) > 1 {
        encoder.setRates(targetBitsPerSecond: bitrate, framesPerSecond: rate)
        appliedBitrate = bitrate
        appliedRate = rate
      }
      let encoded = try encoder.encode(
        frame, forceKeyFrame: keyFrame, rtpTimestamp: frame.timestamp.videoRTPTimestamp)
      let elapsed = now() - started
      shared.withLock { shared in
        shared.statistics.totalEncodeTime += elapsed
        if let encoded {
          shared.statistics.framesEncoded &+= 1
          if encoded.isKeyFrame { shared.statistics.keyFramesEncoded &+= 1 }
          shared.statistics.width = frame.width
          shared.statistics.height = frame.height
        } else {
          shared.statistics.framesDroppedByEncoder &+= 1
          if keyFrame { shared.keyFrameRequested = true }
        }
      }
      if let encoded { output(encoded) }
    } catch {
      // A broken encoder is made anew with the next frame; the error is counted, and seen in the statistics.
      encoder = nil
      shared.withLock {
        $0.statistics.encodeErrors &+= 1
        $0.keyFrameRequested = true
      }
    }
  }
}

/// Frames a second over the last second or so, from capture times.
struct FrameRateMeter {
  private var last: Instant?
  private var interval = 1.0 / 30

  mutating func add(_ time: Instant) -> Double {
    if let last {
      let elapsed = (time - last).inSeconds
      if elapsed > 0, elapsed < 2 { interval += (elapsed - interval) * 0.1 }
    }
    last = time
    return min(120, max(1, (1 / interval).rounded()))
  }
}

extension Instant {
  /// The instant in units of the 90 kHz RTP video clock, wrapping.
  var videoRTPTimestamp: UInt32 {
    // 90 kHz = 9 ticks in 100 microseconds; dividing first keeps the product in 64 bits.
    UInt32(truncatingIfNeeded: microseconds / 100 &* 9 &+ microseconds % 100 &* 9 / 100)
  }
}

extension VideoFrame {
  /// A black picture of the same size and time.
  func blackened() -> VideoFrame {
    var copy = self
    copy.buffer = PixelBuffer(width: width, height: height) { planes in
      for (index, plane) in planes.enumerated() {
        for y in 0..<plane.height {
          plane.row(y).initializeMemory(as: UInt8.self, repeating: index == 0 ? 16 : 128)
        }
      }
    }
    return copy
  }
}
