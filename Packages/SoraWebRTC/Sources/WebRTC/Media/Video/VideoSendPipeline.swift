package import Dispatch
package import SoraCodecs
package import SoraMedia
package import SoraSimulcast
import Synchronization

/// From a source's frames to encoded frames: the encoders of a track on a serial queue of their own.
///
/// No frame ever waits behind another: while one is being encoded, only the newest that came meanwhile is kept. What the
/// time to encode or the bitrate doesn't allow is made smaller or rarer before the encoder sees it (`VideoAdaptation`).
/// Frames come on any thread; `output` runs on the encoders' queue.
package final class VideoSendPipeline: VideoSink, VideoSendStage, @unchecked Sendable {
  // @unchecked: everything from `encoder` on is touched on `queue` alone; what is shared is in `shared`.

  fileprivate struct Shared {
    var pending: RawVideoFrame?
    /// The newest frame of the source, and when it came.
    var latest: (frame: RawVideoFrame, arrival: Instant)?
    /// The timestamp of the newest repetition.
    var repeated: Instant?
    var isScheduled = false
    var keyFrameRequested = true
    var targetBitrate: Int
    var configuration: VideoSendConfiguration
    var configurationChanged = false
    var isStopped = false
    /// Of the source, frames that are never encoded included.
    var sourceRate = FrameRateMeter()
    var statistics: VideoSendStatistics
  }

  /// What one run on the queue takes out of `shared`.
  private struct Work {
    var frame: RawVideoFrame
    var forcesKeyFrame: Bool
    var targetBitrate: Int
    var sourceRate: Double
    var configuration: VideoSendConfiguration?
  }

  private let queue: DispatchQueue
  private let shared: Mutex<Shared>
  private let makeEncoder: @Sendable (VideoEncoderSettings) throws(CodecError) -> any VideoEncoder
  private let output: @Sendable (SimulcastFrame) -> Void
  private let failed: @Sendable (MediaFailure) -> Void
  private let now: @Sendable () -> Instant
  private weak let track: (any VideoTrackSource)?

  private var configuration: VideoSendConfiguration
  private var contentHint: VideoContentHint?
  private var encoder: SimulcastEncoder?
  private var adaptation: VideoAdaptation
  private var spacer = FrameSpacer()
  private var black: (picture: PixelBuffer, luma: UInt8)?
  private var trouble = EncoderTrouble()
  private var hasToldSize = false

  /// - Parameters:
  ///   - track: its `isEnabled` and `contentHint` are followed.
  ///   - bitrate: bits per second to start at.
  ///   - queue: serial.
  ///   - makeEncoder: called on the encoders' queue, with more layers on several threads at a time.
  ///   - output: takes each encoded frame, on the encoders' queue.
  ///   - failed: told once of an encoder that fails again and again, and once of frames that are larger than receivers take; on the
  ///     encoders' queue.
  package init(
    track: (any VideoTrackSource)?, configuration: VideoSendConfiguration, bitrate: Int,
    queue: DispatchQueue = DispatchQueue(label: "sora.video.encode", qos: .userInitiated),
    now: @escaping @Sendable () -> Instant,
    makeEncoder: @escaping @Sendable (VideoEncoderSettings) throws(CodecError) -> any VideoEncoder,
    output: @escaping @Sendable (SimulcastFrame) -> Void,
    failed: @escaping @Sendable (MediaFailure) -> Void = { _ in }
  ) {
    shared = Mutex(
      Shared(
        targetBitrate: bitrate, configuration: configuration,
        statistics: VideoSendStatistics(layerCount: configuration.layers.count)))
    self.configuration = configuration
    self.track = track
    self.queue = queue
    self.now = now
    self.makeEncoder = makeEncoder
    self.output = output
    self.failed = failed
    contentHint = track?.contentHint
    adaptation = VideoAdaptation(
      configuration.kind, preference: configuration.preference(for: track?.contentHint))
  }

  /// Bits per second to aim for from the next frame on.
  package func setTargetBitrate(_ bitsPerSecond: Int) {
    shared.withLock { $0.targetBitrate = bitsPerSecond }
  }

  /// Other layers' settings, limits or preferences from the next frame on.
  package func update(_ configuration: VideoSendConfiguration) {
    shared.withLock { shared in
      guard shared.configuration != configuration else { return }
      shared.configuration = configuration
      shared.configurationChanged = true
    }
  }

  /// Makes the next frame a key frame, in every layer. That is the source's newest one once more, unless another is due: whoever has
  /// just come sees something half a frame's interval sooner, and of a source that stands still anything at all.
  package func requestKeyFrame() {
    let time = now()
    let schedule = shared.withLock { shared in
      shared.keyFrameRequested = true
      guard !shared.isStopped, shared.pending == nil, let frame = shared.repetition(at: time) else {
        return false
      }
      shared.pending = frame
      shared.repeated = frame.timestamp
      defer { shared.isScheduled = true }
      return !shared.isScheduled
    }
    if schedule { queue.async { self.encodePending() } }
  }

  /// Forgets the source's frames and frees the encoders, until the next frame comes.
  package func rest() {
    shared.withLock {
      $0.pending = nil
      $0.latest = nil
      $0.keyFrameRequested = true
    }
    queue.async {
      self.encoder = nil
      self.black = nil
    }
  }

  /// Takes no more frames, and frees the encoders.
  package func stop() {
    shared.withLock {
      $0.isStopped = true
      $0.pending = nil
      $0.latest = nil
    }
    queue.async {
      self.encoder = nil
      self.black = nil
    }
  }

  /// What the next frame is encoded as.
  package var currentConfiguration: VideoSendConfiguration { shared.withLock { $0.configuration } }

  package var statistics: VideoSendStatistics { shared.withLock { $0.statistics } }

  package func receive(_ frame: RawVideoFrame) {
    let time = now()
    let schedule = shared.withLock { shared in
      guard !shared.isStopped else { return false }
      shared.sourceRate.add(frame.timestamp)
      if shared.pending != nil { shared.statistics.framesReplaced &+= 1 }
      shared.latest = (frame, time)
      shared.pending = shared.behindRepetition(frame)
      guard !shared.isScheduled else { return false }
      shared.isScheduled = true
      return true
    }
    if schedule { queue.async { self.encodePending() } }
  }

  // MARK: On the queue

  private func encodePending() {
    while let work = takeWork() {
      follow(work)
      encode(work)
    }
  }

  private func takeWork() -> Work? {
    shared.withLock { shared in
      guard let frame = shared.pending, !shared.isStopped else {
        shared.isScheduled = false
        return nil
      }
      shared.pending = nil
      let work = Work(
        frame: frame, forcesKeyFrame: shared.keyFrameRequested,
        targetBitrate: shared.targetBitrate, sourceRate: shared.sourceRate.framesPerSecond,
        configuration: shared.configurationChanged ? shared.configuration : nil)
      shared.keyFrameRequested = false
      shared.configurationChanged = false
      return work
    }
  }

  /// Takes over what the application changed since the last frame.
  private func follow(_ work: Work) {
    let hint = track?.contentHint
    guard work.configuration != nil || hint != contentHint else { return }
    let new = work.configuration ?? configuration
    if hint != contentHint || !configuration.canBecome(new) {
      encoder = nil
    } else {
      encoder?.settings = new.layers
    }
    if new.layers.count != configuration.layers.count {
      shared.withLock { $0.statistics.layers = .init(repeating: .init(), count: new.layers.count) }
    }
    configuration = new
    contentHint = hint
    adaptation.preference = new.preference(for: hint)
  }

  private func encode(_ work: Work) {
    let started = now()
    if trouble.isPaused(at: started) {
      drop(work, \.framesDroppedByEncoder)
      return
    }
    let layers = configuration.layers
    guard
      let (top, width, height) = configuration.largestActiveLayer(
        ofSource: work.frame.width, work.frame.height)
    else {
      // W3C webrtc-pc §5.2: nothing is sent while no encoding is active; the first frame after that is a key frame.
      encoder = nil
      shared.withLock { $0.keyFrameRequested = true }
      return
    }
    let target = min(
      work.targetBitrate,
      configuration.limit
        ?? (layers.count == 1
          ? VideoDemand.sensibleMaximum(width: width, height: height)
          : work.targetBitrate))
    let rate = min(work.sourceRate, top.maximumFramesPerSecond ?? work.sourceRate)
    adaptation.captured(
      width: width, height: height, framesPerSecond: rate,
      target: layers.count == 1 ? min(target, top.maximumBitsPerSecond ?? target) : nil,
      isLimitedOtherwise: encoder?.isBandwidthLimited ?? false, at: started)
    let step = adaptation.step
    guard
      spacer.keeps(
        work.frame.timestamp, framesPerSecond: step.framesPerSecond, isForced: work.forcesKeyFrame)
    else {
      drop(work, \.framesDroppedForRate)
      return
    }
    let encoder = self.encoder ?? makeSimulcast(work, bitrate: target)
    self.encoder = encoder
    encoder.setRates(
      targetBitsPerSecond: target, framesPerSecond: min(rate, step.framesPerSecond ?? rate))
    run(encoder, work, step, started: started)
  }

  private func run(
    _ encoder: SimulcastEncoder, _ work: Work, _ step: DegradationLadder.Step, started: Instant
  ) {
    var made = 0
    var failure: CodecError?
    encoder.maySlowDown = !adaptation.isReducedForTime
    do throws(CodecError) {
      try encoder.encode(
        visible(work.frame), scale: step.scale, forceKeyFrame: work.forcesKeyFrame,
        rtpTimestamp: work.frame.timestamp.videoRTPTimestamp
      ) { frame in
        made += 1
        shared.withLock { $0.statistics.count(frame) }
        output(frame)
      }
      trouble.succeeded()
    } catch {
      failure = error
      trouble.failed(at: now())
    }
    tell(failure, encoder)
    let ended = now()
    if adaptation.encoded(ended - started, canBeFaster: encoder.canBeFaster, at: ended) {
      encoder.beFaster()
    }
    if let isFailing = trouble.isFailing { adaptation.setFailing(isFailing, at: ended) }
    shared.withLock { shared in
      shared.statistics.limitation = adaptation.limitation
      for index in shared.statistics.layers.indices {
        shared.statistics.layers[index].state = encoder.state(index)
      }
      if failure != nil {
        shared.statistics.encodeErrors &+= 1
        shared.keyFrameRequested = true
      } else if made == 0 {
        shared.statistics.framesDroppedByEncoder &+= 1
        if work.forcesKeyFrame { shared.keyFrameRequested = true }
      }
    }
  }

  /// What would be lost in silence, once.
  private func tell(_ failure: CodecError?, _ encoder: SimulcastEncoder) {
    if let failure, trouble.takeNews() { failed(.videoEncoder(failure)) }
    guard failure == nil, !hasToldSize else { return }
    let limit = VideoDecoderSettings().maximumPixels
    for index in configuration.layers.indices {
      let state = encoder.state(index)
      guard state.width * state.height > limit else { continue }
      hasToldSize = true
      return failed(.videoTooLarge(width: state.width, height: state.height, limit: limit))
    }
  }

  private func makeSimulcast(_ work: Work, bitrate: Int) -> SimulcastEncoder {
    SimulcastEncoder(
      configuration.kind, layers: configuration.layers,
      base: VideoEncoderSettings(
        width: work.frame.width, height: work.frame.height, framesPerSecond: work.sourceRate,
        targetBitsPerSecond: bitrate, contentHint: contentHint ?? .motion,
        cores: configuration.cores, formatParameters: configuration.formatParameters,
        bitDepth: configuration.bitDepth),
      now: now, makeEncoder: makeEncoder)
  }

  /// Counts a frame that isn't encoded; a key frame that it should have been, the next one is.
  private func drop(_ work: Work, _ counter: WritableKeyPath<VideoSendStatistics, UInt64>) {
    shared.withLock {
      $0.statistics[keyPath: counter] &+= 1
      if work.forcesKeyFrame { $0.keyFrameRequested = true }
    }
  }

  /// W3C mediacapture-main §4.3.1: a disabled video track gives black frames.
  private func visible(_ frame: RawVideoFrame) -> RawVideoFrame {
    guard track?.isEnabled == false else {
      black = nil
      return frame
    }
    var copy = frame
    let luma = frame.colorSpace.black
    if let black, black.luma == luma, black.picture.width == frame.width,
      black.picture.height == frame.height
    {
      copy.buffer = black.picture
    } else {
      copy.buffer = .black(width: frame.width, height: frame.height, luma: luma)
      black = (copy.buffer, luma)
    }
    return copy
  }
}

extension VideoSendPipeline.Shared {
  /// The source's newest frame, as if it had been captured now; nil where there is none, or the next is as good as here.
  fileprivate func repetition(at now: Instant) -> RawVideoFrame? {
    guard var frame = latest?.frame, let arrival = latest?.arrival, now > arrival else {
      return nil
    }
    let rate = sourceRate.framesPerSecond
    let intervals = (now - arrival).inSeconds * rate
    // A source that is late by more than an interval stands still, or nearly so.
    guard rate <= 0 || intervals < 0.75 || intervals > 2 else { return nil }
    frame.timestamp += now - arrival
    return frame
  }

  /// A frame that the source captured before the last repetition was made, and delivered after it, comes behind it all the same.
  fileprivate func behindRepetition(_ frame: RawVideoFrame) -> RawVideoFrame {
    // A clock that jumps back further starts over; the encoders know what to do.
    guard let repeated, frame.timestamp <= repeated, repeated - frame.timestamp < .seconds(1) else {
      return frame
    }
    var frame = frame
    frame.timestamp = repeated + .milliseconds(1)
    return frame
  }
}

extension Instant {
  /// The instant in units of the 90 kHz RTP video clock, wrapping.
  var videoRTPTimestamp: UInt32 {
    // 90 kHz = 9 ticks in 100 microseconds; dividing first keeps the product in 64 bits.
    UInt32(truncatingIfNeeded: microseconds / 100 &* 9 &+ microseconds % 100 &* 9 / 100)
  }
}
