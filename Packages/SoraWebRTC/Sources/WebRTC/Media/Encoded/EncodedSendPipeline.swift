import SoraCodecs
package import SoraMedia
package import SoraSimulcast
import Synchronization

/// From frames that are encoded already to frames that are sent: nothing is decoded or encoded.
///
/// The stream begins with a key frame, and again after each pause; key frames carry their parameter sets; where the link is too
/// narrow, frames are left out (`EncodedFrameLimiter`). Frames come on any thread, in order, and leave on the same one.
package final class EncodedSendPipeline: VideoSendStage {
  /// Frames that weren't sent, by reason.
  package struct Drops: Sendable, Hashable {
    /// Before a key frame came.
    package var beforeKeyFrame: UInt64 = 0
    /// For want of bandwidth.
    package var forBandwidth: UInt64 = 0
    /// That aren't frames of the codec, or key frames whose parameter sets never came.
    package var unreadable: UInt64 = 0
    /// Captured before frames that had been sent, and no other refers to them.
    package var reordered: UInt64 = 0
    /// Of another codec than the negotiated one.
    package var otherCodec: UInt64 = 0
    /// To be decoded and encoded again, and never decoded: before a key frame, or faster than the decoder is.
    package var undecoded: UInt64 = 0

    var counts: KeyValuePairs<String, UInt64> {
      [
        "encodedBeforeKeyFrame": beforeKeyFrame, "encodedForBandwidth": forBandwidth,
        "encodedUnreadable": unreadable, "encodedReordered": reordered,
        "encodedOtherCodec": otherCodec, "encodedUndecoded": undecoded,
      ]
    }

    package static func + (a: Drops, b: Drops) -> Drops {
      Drops(
        beforeKeyFrame: a.beforeKeyFrame &+ b.beforeKeyFrame,
        forBandwidth: a.forBandwidth &+ b.forBandwidth, unreadable: a.unreadable &+ b.unreadable,
        reordered: a.reordered &+ b.reordered, otherCodec: a.otherCodec &+ b.otherCodec,
        undecoded: a.undecoded &+ b.undecoded)
    }
  }

  /// A frame that wasn't sent because it came behind one that is shown later, and what a decoder needs in order to go on with it.
  package struct Reordered: Sendable {
    /// Since the last key frame, the frame itself at their end; none where the key frame isn't kept any more.
    package var group: [EncodedFrame]
    /// When the last one that was sent was captured.
    package var shownUntil: Instant
  }

  /// How long the answer to a request for a key frame may take before the next.
  package static let requestInterval = Duration.seconds(1)
  /// What `encoderImplementation` says.
  package static let implementationName = "passthrough"
  /// After so long without a frame left out, the bandwidth isn't a limit any more.
  fileprivate static let limitationMemory = Duration.seconds(2)

  fileprivate struct State {
    var configuration: VideoSendConfiguration
    var target: Int
    var isStopped = false
    var units: AccessUnits
    var limiter = EncodedFrameLimiter()
    var group = EncodedGroup()
    var needsKeyFrame = true
    var lastRequest: Instant?
    var lastTimestamp: Instant?
    var lastLimited: Instant?
    fileprivate var rate = EncodedRateMeter()
    /// Bits per second that were told.
    var toldRate = 0
    var statistics: VideoSendStatistics
    var drops = Drops()
    var told: Set<MediaFailure> = []
  }

  /// What is done about a frame outside the lock.
  fileprivate struct Outcome {
    var asks = false
    var failure: MediaFailure?
    /// What the source gives, where it is more than was told.
    var rate: Int?
    var reordered: Reordered?
  }

  private let state: Mutex<State>
  private let now: @Sendable () -> Instant
  private let needsKeyFrame: @Sendable () -> Void
  private let givesRate: @Sendable (Int) -> Void
  private let output: @Sendable (SimulcastFrame) -> Void
  private let failed: @Sendable (MediaFailure) -> Void

  /// - Parameters:
  ///   - bitrate: bits per second that the link takes at first.
  ///   - needsKeyFrame: asks the source; on the thread that brings frames, or asks for key frames.
  ///   - givesRate: told how many bits per second the source gives, over a second, where that is a tenth more than before; 0 once
  ///     something else is sent. On the thread that brings frames, or rests.
  ///   - output: takes each frame, in order, under a lock: it hands the frame over and returns.
  ///   - failed: told each thing once.
  package init(
    configuration: VideoSendConfiguration, bitrate: Int, now: @escaping @Sendable () -> Instant,
    needsKeyFrame: @escaping @Sendable () -> Void,
    givesRate: @escaping @Sendable (Int) -> Void = { _ in },
    output: @escaping @Sendable (SimulcastFrame) -> Void,
    failed: @escaping @Sendable (MediaFailure) -> Void = { _ in }
  ) {
    state = Mutex(
      State(
        configuration: configuration, target: bitrate, units: AccessUnits(configuration.kind),
        statistics: VideoSendStatistics(layerCount: configuration.layers.count)))
    self.now = now
    self.needsKeyFrame = needsKeyFrame
    self.givesRate = givesRate
    self.output = output
    self.failed = failed
  }

  package func setTargetBitrate(_ bitsPerSecond: Int) {
    state.withLock { $0.target = bitsPerSecond }
  }

  /// Bits per second that the link takes.
  package var targetBitrate: Int { state.withLock { $0.target } }

  package func update(_ configuration: VideoSendConfiguration) {
    state.withLock { state in
      guard state.configuration != configuration else { return }
      if configuration.layers.count != state.configuration.layers.count {
        state.statistics.layers = .init(repeating: .init(), count: configuration.layers.count)
        state.needsKeyFrame = true
      }
      state.configuration = configuration
    }
  }

  /// Asks the source for a key frame, but not again before the last request may have been answered.
  package func requestKeyFrame() {
    let time = now()
    if state.withLock({ !$0.isStopped && $0.takeRequest(at: time) }) { needsKeyFrame() }
  }

  /// The next frame that is sent is a key frame: something else was sent meanwhile.
  package func rest() {
    let wasTold = state.withLock { state in
      state.needsKeyFrame = true
      state.group = EncodedGroup()
      state.lastRequest = nil
      for index in state.statistics.layers.indices {
        state.statistics.layers[index].state = .init()
      }
      defer { state.toldRate = 0 }
      state.rate = EncodedRateMeter()
      return state.toldRate > 0
    }
    if wasTold { givesRate(0) }
  }

  package func stop() { state.withLock { $0.isStopped = true } }

  package var currentConfiguration: VideoSendConfiguration {
    var configuration = state.withLock { $0.configuration }
    for index in configuration.layers.indices {
      configuration.layers[index].scalabilityMode = .l1t1
    }
    return configuration
  }
  package var statistics: VideoSendStatistics { state.withLock { $0.statistics } }
  package var drops: Drops { state.withLock { $0.drops } }

  /// Whether frames come in another order than they were captured in.
  package var isReordered: Bool {
    state.withLock { $0.told.contains(.videoReordered($0.configuration.kind)) }
  }

  /// The size of the last frame; 0 before the first.
  package var size: (width: Int, height: Int) {
    state.withLock { state in
      let layer = state.statistics.layers.last { $0.width > 0 }
      return (layer?.width ?? 0, layer?.height ?? 0)
    }
  }

  /// Counts a frame of another codec, and tells it once.
  package func refuse(_ kind: VideoCodecKind) {
    let failure = state.withLock { state -> MediaFailure? in
      state.drops.otherCodec &+= 1
      return state.tellOnce(.videoCodecMismatch(given: kind, negotiated: state.configuration.kind))
    }
    if let failure { failed(failure) }
  }

  /// Sends a frame of the negotiated codec. Its timestamp says when it was captured; its RTP timestamp is made from that.
  ///
  /// - Parameter takesReordered: whether a frame is sent that was captured before another that was sent, and that others refer to.
  /// - Returns: what it takes to send the frame otherwise, where it was captured before another and isn't sent for that alone.
  @discardableResult
  package func send(_ frame: EncodedFrame, takesReordered: Bool = true) -> Reordered? {
    let time = now()
    let outcome = state.withLock { state in
      state.take(frame, takesReordered: takesReordered, at: time, output)
    }
    if let failure = outcome.failure { failed(failure) }
    if let rate = outcome.rate { givesRate(rate) }
    if outcome.asks { needsKeyFrame() }
    return outcome.reordered
  }
}

extension EncodedSendPipeline.State {
  fileprivate mutating func takeRequest(at now: Instant) -> Bool {
    if let lastRequest, now - lastRequest < EncodedSendPipeline.requestInterval { return false }
    lastRequest = now
    return true
  }

  fileprivate mutating func tellOnce(_ failure: MediaFailure) -> MediaFailure? {
    told.insert(failure).inserted ? failure : nil
  }

  fileprivate mutating func take(
    _ frame: EncodedFrame, takesReordered: Bool, at now: Instant,
    _ output: (SimulcastFrame) -> Void
  ) -> EncodedSendPipeline.Outcome {
    guard !isStopped else { return .init() }
    guard let layer = configuration.layers.lastIndex(where: \.isActive) else {
      // W3C webrtc-pc §5.2: nothing is sent while no encoding is active.
      needsKeyFrame = true
      return .init()
    }
    let picture: AccessUnits.Picture
    switch units.prepare(frame) {
    case .parameterSets: return .init()
    case .unreadable:
      drops.unreadable &+= 1
      let failure = tellOnce(.videoUnreadable(configuration.kind))
      return .init(asks: needsKeyFrame && takeRequest(at: now), failure: failure)
    case .picture(let made): picture = made
    }
    guard picture.isKeyFrame || !needsKeyFrame || limiter.isHolding else {
      drops.beforeKeyFrame &+= 1
      return .init(asks: takeRequest(at: now))
    }
    var outcome = EncodedSendPipeline.Outcome()
    var timestamp = frame.timestamp
    group.add(frame.made(of: picture), mayBeReordered: picture.mayBeReordered)
    // A clock that jumps back further starts over.
    if let lastTimestamp, timestamp <= lastTimestamp, lastTimestamp - timestamp < .seconds(1) {
      outcome.failure = tellOnce(.videoReordered(configuration.kind))
      guard takesReordered else {
        outcome.reordered = .init(group: group.take(), shownUntil: lastTimestamp)
        return outcome
      }
      guard picture.isReferenced else {
        drops.reordered &+= 1
        return outcome
      }
      timestamp = lastTimestamp + .milliseconds(1)
    }
    rate.add(bytes: picture.payload.count, at: now)
    if rate.bitsPerSecond > toldRate + toldRate / 10 {
      toldRate = rate.bitsPerSecond
      outcome.rate = toldRate
    }
    let admission = limiter.admit(
      bytes: picture.payload.count, isKeyFrame: picture.isKeyFrame,
      isReferenced: picture.isReferenced, target: target, at: now)
    if admission != .send {
      drops.forBandwidth &+= 1
      lastLimited = now
      outcome.asks = limiter.wantsKeyFrame(target: target) && takeRequest(at: now)
    } else {
      needsKeyFrame = false
      lastTimestamp = timestamp
      emit(frame, picture, timestamp, layer: layer, output)
    }
    let isLimited = lastLimited.map { now - $0 < EncodedSendPipeline.limitationMemory } ?? false
    statistics.limitation.set(isLimited ? .bandwidth : .none, at: now)
    return outcome
  }

  private mutating func emit(
    _ frame: EncodedFrame, _ picture: AccessUnits.Picture, _ timestamp: Instant, layer: Int,
    _ output: (SimulcastFrame) -> Void
  ) {
    var sent = frame.made(of: picture)
    sent.timestamp = timestamp
    sent.rtpTimestamp = timestamp.videoRTPTimestamp
    let encoded = SimulcastFrame(
      layer: layer, rid: configuration.layers[layer].rid, frame: sent, encodeTime: .zero)
    statistics.count(encoded)
    statistics.layers[layer].state.implementationName = EncodedSendPipeline.implementationName
    statistics.layers[layer].state.bitsPerSecond = max(1, rate.bitsPerSecond)
    statistics.layers[layer].state.width = sent.width
    statistics.layers[layer].state.height = sent.height
    output(encoded)
  }
}

extension EncodedFrame {
  /// The frame with what its bytes say of it.
  fileprivate func made(of picture: AccessUnits.Picture) -> EncodedFrame {
    var made = self
    made.payload = picture.payload
    made.isKeyFrame = picture.isKeyFrame
    made.layers.isReferenced = picture.isReferenced
    made.width = picture.width
    made.height = picture.height
    return made
  }
}

/// Bits per second of what comes, over the last second or so.
private struct EncodedRateMeter {
  private var start: Instant?
  private var bits = 0
  private(set) var bitsPerSecond = 0

  mutating func add(bytes: Int, at now: Instant) {
    let begun = start ?? now
    start = begun
    let elapsed = (now - begun).inSeconds
    if elapsed >= 1 {
      bitsPerSecond = Int(Double(bits) / elapsed)
      start = now
      bits = 0
    }
    bits += bytes * 8
  }
}
