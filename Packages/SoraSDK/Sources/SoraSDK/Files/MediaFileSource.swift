public import SoraMedia
public import SoraRecording
import Synchronization
public import WebRTC

/// Sends a file's video and audio to a stream, with their timing. Linux only.
///
/// Any file that libavformat reads, and numbered pictures (`shot-%04d.png`). VP8, VP9, AV1, H.264 and H.265 are sent as they are where
/// that is the negotiated codec, and otherwise decoded and encoded again; Opus always goes as it is; what has another codec is decoded.
/// Both tracks are timed by one clock, so that they stay in step. A file can't give a key frame when somebody asks for one: who comes
/// sees something from the file's next on.
///
/// ```swift
/// import SoraSDK
///
/// /// Sends a film, again and again. It ends with the source.
/// func send(_ path: String, to stream: any MediaStream) throws -> MediaFileSource {
///   let source = try MediaFileSource(path: path, loops: true)
///   source.start(sendingTo: stream)
///   return source
/// }
/// ```
///
/// Safe from any thread.
public final class MediaFileSource: Sendable {
  private let player: MediaFilePlayer
  private let state = Mutex(State())

  private struct State: Sendable {
    var onEnd: (@Sendable (MediaFileError?) -> Void)?
    var onFrame: (@Sendable (MediaFilePlayer.Content) -> Void)?
    /// Held here, as the engine's source doesn't.
    var feedback: Feedback?
  }

  /// What becomes of video of another codec than the negotiated one.
  public let handling: RTCEncodedFrameHandling

  /// Opens a file; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - path: of the file, or of numbered pictures.
  ///   - kinds: what is to be sent of it.
  ///   - loops: whether it begins anew at its end.
  ///   - handling: what becomes of video of another codec than the negotiated one, and with B frames.
  ///   - framesPerSecond: of pictures whose files have no times; nil for 25.
  /// - Throws: what is wrong with the file, in one line.
  public init(
    path: String, kinds: Set<MediaKind> = [.video, .audio], loops: Bool = false,
    handling: RTCEncodedFrameHandling = .transcodeWhereNeeded, framesPerSecond: Double? = nil
  ) throws(MediaFileError) {
    player = try MediaFilePlayer(
      path: path, kinds: kinds, loops: loops, framesPerSecond: framesPerSecond)
    self.handling = handling
  }

  /// The tracks that are sent; nil where the file has none that can be.
  public var video: MediaFileReader.Track? { player.video }
  public var audio: MediaFileReader.Track? { player.audio }
  /// Of the file; nil if unknown.
  public var duration: Duration? { player.duration }
  /// Where in the file it is.
  public var position: Duration { player.position }
  /// How often the file began anew.
  public var rounds: Int { player.rounds }
  /// Whether it begins anew at its end.
  public var loops: Bool {
    get { player.loops }
    set { player.loops = newValue }
  }

  /// Told once the file is over, with nil, or why it can't be read on; on a queue of the source's. Not told of `stop`, which may be called
  /// there.
  public var onEnd: (@Sendable (MediaFileError?) -> Void)? {
    get { state.withLock { $0.onEnd } }
    set { state.withLock { $0.onEnd = newValue } }
  }

  /// Sees each frame, and each block of sound, when it is sent, on a queue of the source's. `stop` may be called there.
  public var onFrame: (@Sendable (MediaFilePlayer.Content) -> Void)? {
    get { state.withLock { $0.onFrame } }
    set { state.withLock { $0.onFrame = newValue } }
  }

  /// Sends to a stream from the beginning, as soon as the stream's video is sent. To one stream at a time: again after `stop`, or once the
  /// file is over.
  ///
  /// - Parameters:
  ///   - stream: a channel's `senderStream`.
  ///   - start: when the first frame is due, on the monotonic clock; nil for as soon as that.
  public func start(sendingTo stream: any MediaStream, at start: Instant? = nil) {
    // What isn't encoded yet can be sent whenever somebody comes.
    guard video?.codec != nil, let source = stream.videoSource else {
      return play(to: stream, at: start)
    }
    source.encodedFrameHandling = handling
    source.hasFixedEncodedBitrate = true
    let feedback = Feedback { [weak self, weak stream] in
      guard let self, let stream else { return }
      play(to: stream, at: start)
    }
    let last = state.withLock { state in
      defer { state.feedback = feedback }
      return state.feedback
    }
    last?.cancel()
    source.encodedFrameDelegate = feedback
    // It may have begun before anybody was there to be told.
    if !source.negotiatedCodecs.isEmpty { feedback.begin() }
  }

  private func play(to stream: any MediaStream, at start: Instant?) {
    player.start(at: start) { [weak self, weak stream] content in
      guard let self, let stream else { return }
      switch content {
      case .encoded(let frame, .video(let kind)):
        stream.send(encodedVideoFrame: frame, codec: kind)
      case .encoded(let packet, .opus): stream.send(encodedAudioFrame: packet)
      case .picture(let frame): stream.send(videoFrame: VideoFrame(frame))
      case .sound(let block): stream.send(audioFrame: block)
      }
      onFrame?(content)
    } notify: { [weak self] event in
      switch event {
      case .ended: self?.onEnd?(nil)
      case .failed(let error): self?.onEnd?(error)
      }
    }
  }

  /// Waits for a connection that sends, and begins once. A file has no key frames but its own, and no other rate.
  private final class Feedback: RTCEncodedVideoSourceDelegate {
    /// nil once it has begun, or is not to.
    private let whenSent: Mutex<(@Sendable () -> Void)?>

    init(_ whenSent: @escaping @Sendable () -> Void) { self.whenSent = Mutex(whenSent) }

    /// Under the lock: once `cancel` has returned nothing begins any more.
    func begin() {
      whenSent.withLock { whenSent in
        whenSent?()
        whenSent = nil
      }
    }
    func cancel() { whenSent.withLock { $0 = nil } }
    func videoSource(_ source: RTCVideoSource, isSentAs codec: VideoCodecKind) { begin() }
    func videoSourceNeedsKeyFrame(_ source: RTCVideoSource) {}
    func videoSource(_ source: RTCVideoSource, targetBitrateChanged bitsPerSecond: Int) {}
  }

  /// Stands still until `resume`; viewers see the last frame. Before it begins, it begins with that.
  public func pause() { player.pause() }
  public func resume() { player.resume() }
  /// Goes on at the last key frame at or before a time of the file.
  public func seek(to position: Duration) { player.seek(to: position) }
  /// Ends it, and returns when the last frame was given: called from `onFrame` or `onEnd`, that is the present one. Whoever comes to the
  /// stream later doesn't begin it again; `start` does.
  public func stop() {
    let feedback = state.withLock { $0.feedback.take() }
    feedback?.cancel()
    player.stop()
  }
}
