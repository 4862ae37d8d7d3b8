package import SoraCodecs
package import SoraMedia
package import SoraSimulcast
import Synchronization

/// What one transceiver sends of a track: frames that are encoded here, or frames that were encoded before, whichever its source
/// gives. At each change of that, the stream goes on with a key frame.
package final class VideoTrackSender: VideoSink, EncodedVideoSink {
  /// What the source gives.
  private enum Mode {
    case frames
    case encoded
  }
  /// Apart from the sender, so that the stages' closures can hold it.
  private final class Gate: Sendable {
    private struct State {
      var mode = Mode.frames
      var isClosed = false
    }

    private let state = Mutex(State())

    var mode: Mode { state.withLock { $0.mode } }

    /// - Returns: whether it was another before.
    func set(_ mode: Mode) -> Bool {
      state.withLock { state in
        defer { state.mode = mode }
        return state.mode != mode
      }
    }

    func close() { state.withLock { $0.isClosed = true } }

    /// Hands a frame over where it is the mode's turn.
    func pass(_ mode: Mode, _ output: () -> Void) {
      state.withLock { if $0.mode == mode, !$0.isClosed { output() } }
    }
  }
  fileprivate struct Transcoder {
    var kind: VideoCodecKind
    var decoder: VideoReceivePipeline
  }
  fileprivate struct State {
    var transcoder: Transcoder?
    /// Frames that transcoders before this one didn't decode.
    var undecoded: UInt64 = 0
    var isStopped = false
    /// When the last black frame was sent in place of encoded ones.
    var lastBlack: Instant?
  }

  package let kind: VideoCodecKind
  private let frames: VideoSendPipeline
  private let encoded: EncodedSendPipeline
  private let gate: Gate
  private let state = Mutex(State())
  private let given = Mutex(VideoSourceStatistics())
  private weak let track: (any VideoTrackSource)?
  private let source: EncodedVideoBroadcaster
  private let registry: VideoCodecRegistry
  private let now: @Sendable () -> Instant
  private let failed: @Sendable (MediaFailure) -> Void

  /// - Parameters:
  ///   - bitrate: bits per second to start at.
  ///   - sourceRate: told what a source gives that comes encoded and can't give less, as `EncodedSendPipeline` tells it.
  ///   - output: takes each encoded frame, on whichever thread, in order; hands it over and returns.
  ///   - failed: told each thing once.
  package init(
    track: any VideoTrackSource, configuration: VideoSendConfiguration, bitrate: Int,
    registry: VideoCodecRegistry, now: @escaping @Sendable () -> Instant,
    sourceRate: @escaping @Sendable (Int) -> Void,
    output: @escaping @Sendable (SimulcastFrame) -> Void,
    failed: @escaping @Sendable (MediaFailure) -> Void
  ) {
    let kind = configuration.kind
    let source = track.encodedVideo
    let gate = Gate()
    self.kind = kind
    self.track = track
    self.source = source
    self.registry = registry
    self.now = now
    self.failed = failed
    self.gate = gate
    frames = VideoSendPipeline(
      track: track, configuration: configuration, bitrate: bitrate, now: now,
      makeEncoder: { settings throws(CodecError) in
        try registry.makeEncoder(kind, settings: settings)
      },
      output: { frame in gate.pass(.frames) { output(frame) } },
      failed: failed)
    encoded = EncodedSendPipeline(
      configuration: configuration, bitrate: bitrate, now: now,
      needsKeyFrame: { source.requestKeyFrame() },
      givesRate: { if $0 == 0 || source.hasFixedBitrate { sourceRate($0) } },
      output: { frame in gate.pass(.encoded) { output(frame) } },
      failed: failed)
  }

  /// Takes the track's frames from now on.
  package func start() {
    track?.add(sink: self)
    source.add(self)
    source.bitrateChanged()
    source.feedback?.isSent(as: kind)
  }

  /// Takes no more frames, and frees the codecs. Nothing is handed over any more: a frame that an encoder is still at would come behind
  /// the key frame with which another sender goes on.
  package func stop() {
    gate.close()
    track?.remove(sink: self)
    source.remove(self)
    state.withLock { $0.isStopped = true }
    stopTranscoder()
    for stage in stages { stage.stop() }
  }

  private var stages: [any VideoSendStage] { [frames, encoded] }
  private var mode: Mode { gate.mode }
  private var current: any VideoSendStage { mode == .frames ? frames : encoded }

  func update(_ configuration: VideoSendConfiguration) {
    for stage in stages { stage.update(configuration) }
  }

  func setTargetBitrate(_ bitsPerSecond: Int) {
    for stage in stages { stage.setTargetBitrate(bitsPerSecond) }
    source.bitrateChanged()
  }

  func requestKeyFrame() { current.requestKeyFrame() }

  package var targetBitrate: Int { encoded.targetBitrate }
  var currentConfiguration: VideoSendConfiguration { current.currentConfiguration }
  var drops: EncodedSendPipeline.Drops {
    var drops = encoded.drops
    drops.undecoded = state.withLock { state in
      state.undecoded &+ (state.transcoder?.decoder.statistics.framesDropped ?? 0)
    }
    return drops
  }

  /// What the track's source gave.
  var sourceStatistics: VideoSourceStatistics { given.withLock { $0 } }

  /// What both stages counted, and how the one is that sends now.
  var statistics: VideoSendStatistics {
    let isEncoding = mode == .frames
    let (one, other) = (frames.statistics, encoded.statistics)
    return isEncoding ? one.addingCounters(of: other) : other.addingCounters(of: one)
  }

  // MARK: Frames

  package func receive(_ frame: RawVideoFrame) {
    given.withLock { $0.count(width: frame.width, height: frame.height, at: frame.timestamp) }
    switchTo(.frames)
    frames.receive(frame)
  }

  package func receive(_ frame: EncodedFrame, codec: VideoCodecKind) {
    given.withLock { $0.count(width: frame.width, height: frame.height, at: frame.timestamp) }
    guard track?.isEnabled != false else { return sendBlack(frame) }
    let handling = source.handling
    let isSentAsItIs =
      codec == kind
      && (handling == .passThrough || handling == .transcodeWhereNeeded && !encoded.isReordered)
    if isSentAsItIs {
      stopTranscoder()
      switchTo(.encoded)
      let reordered = encoded.send(frame, takesReordered: handling == .passThrough)
      if let reordered { transcode(reordered, codec) }
    } else if handling == .passThrough {
      encoded.refuse(codec)
    } else {
      switchTo(.frames)
      transcoder(codec)?.decode(frame)
    }
  }

  private func switchTo(_ mode: Mode) {
    guard gate.set(mode) else { return }
    if mode == .frames { encoded.rest() } else { frames.rest() }
  }

  /// W3C mediacapture-main §4.3.1: a disabled video track gives black frames; one per second is enough of them.
  private func sendBlack(_ frame: EncodedFrame) {
    let isDue = state.withLock { state in
      if let last = state.lastBlack, frame.timestamp > last, frame.timestamp - last < .seconds(1) {
        return false
      }
      state.lastBlack = frame.timestamp
      return true
    }
    guard isDue else { return }
    let last = encoded.size
    let size = frame.width > 0 ? (width: frame.width, height: frame.height) : last
    stopTranscoder()
    switchTo(.frames)
    frames.receive(
      RawVideoFrame(
        buffer: .black(
          width: size.width > 0 ? size.width : 320, height: size.width > 0 ? size.height : 180),
        timestamp: frame.timestamp))
  }

  // MARK: Frames that can't be sent as they are

  /// Goes on with a decoder where the order of frames has turned out to be none for calls: with the picture behind the last that was sent.
  private func transcode(_ reordered: EncodedSendPipeline.Reordered, _ codec: VideoCodecKind) {
    switchTo(.frames)
    let decoder = transcoder(codec, behind: reordered.shownUntil)
    for frame in reordered.group { decoder?.decode(frame) }
  }

  /// - Parameter time: of a picture; it and those before it aren't sent. nil for all.
  private func transcoder(
    _ codec: VideoCodecKind, behind time: Instant? = nil
  ) -> VideoReceivePipeline? {
    state.withLock { state in
      guard !state.isStopped else { return nil }
      if let transcoder = state.transcoder, transcoder.kind == codec { return transcoder.decoder }
      state.endTranscoder()
      let (registry, frames, source, failed) = (registry, frames, source, failed)
      let decoder = VideoReceivePipeline(
        now: now,
        makeDecoder: { () throws(CodecError) in try registry.makeDecoder(codec) },
        needsKeyFrame: { source.requestKeyFrame() },
        output: { frame in
          if let time, frame.timestamp <= time { return }
          frames.receive(frame)
        },
        failed: { failed(.videoDecoder($0)) })
      state.transcoder = Transcoder(kind: codec, decoder: decoder)
      return decoder
    }
  }

  private func stopTranscoder() { state.withLock { $0.endTranscoder() } }
}

extension VideoTrackSender.State {
  fileprivate mutating func endTranscoder() {
    guard let decoder = transcoder?.decoder else { return }
    transcoder = nil
    decoder.stop()
    undecoded &+= decoder.statistics.framesDropped
  }
}
