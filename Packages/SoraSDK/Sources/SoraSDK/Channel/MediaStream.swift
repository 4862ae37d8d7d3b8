public import Foundation
public import SoraMedia
import Synchronization
public import WebRTC

/// Volumes of received sound.
public enum MediaStreamAudioVolume {
  public static let min: Double = 0
  public static let max: Double = 10
}

/// What one connection of a channel sends: at most one video and one audio track. Safe from any thread.
public protocol MediaStream: AnyObject, Sendable {
  var handlers: MediaStreamHandlers { get }
  /// For a remote stream the sender's connection id; for the local one `Configuration.publisherStreamId`.
  var streamId: String { get }
  var creationTime: Date { get }
  var mediaChannel: MediaChannel? { get }
  /// Whether the video track is on. A local track that is off sends black pictures.
  var videoEnabled: Bool { get set }
  /// Whether the audio track is on. A local track that is off sends silence.
  var audioEnabled: Bool { get set }
  /// Whether there is a video track. Of the iOS SDK 2026.1.
  var hasVideoTrack: Bool { get }
  /// Whether there is an audio track. Of the iOS SDK 2026.1.
  var hasAudioTrack: Bool { get }
  /// Volume of received sound, 0 (silent) to 10 (as it was sent), 10 at first; nil where there is no audio track.
  /// Values outside are clamped; setting nil does nothing.
  var remoteAudioVolume: Double? { get set }
  /// How many times as loud a local stream's sound is sent as it came, 0 (silence) to 10, 1 at first: what the microphone hears, and what
  /// the app gives, but for packets that are encoded already. Samples beyond 16 bits are clipped. nil for remote streams and where there is
  /// no audio track. Values outside are clamped; setting nil does nothing. Linux only.
  var audioGain: Double? { get set }
  /// Applied to each frame in `send(videoFrame:)`.
  var videoFilter: (any VideoFilter)? { get set }
  /// Shows the stream's pictures; held weakly.
  var videoRenderer: (any VideoRenderer)? { get set }
  /// What the renderer gets when the stream's video stops; `freeze` at first. Linux only.
  var stoppedVideoPicture: StoppedVideoPicture { get set }
  /// Filters a frame and sends it. nil does nothing.
  func send(videoFrame: VideoFrame?)
  /// Sends sound: linear PCM of any rate and length. Linux only: iOS takes it from the microphone. From the first frame on, no
  /// microphone is sent on this stream.
  func send(audioFrame: AudioFrame)
  /// Sends a picture that is encoded already: a camera's that encodes, a file's. Where its codec is the negotiated one it isn't encoded
  /// again; `videoSource` says what else becomes of it, and asks for key frames (`RTCVideoSource.push(_:codec:)`). The filter and
  /// local renderers don't see it. Linux only.
  func send(encodedVideoFrame: EncodedFrame, codec: VideoCodecKind)
  /// Sends an Opus packet that is encoded already (`RTCAudioSource.push(packet:)`); from the first on, no microphone is sent on this
  /// stream. Where G.711 was negotiated it is dropped, and counted. Linux only.
  func send(encodedAudioFrame: EncodedFrame)
  /// The engine's source of a local stream's pictures: whoever gives encoded frames is told there when a key frame is wanted, and how
  /// many bits per second the network takes. nil where there is no video, and for remote streams. Linux only.
  var videoSource: RTCVideoSource? { get }
  /// Gives received (or local) sound to `sink`, 10 ms at a time at 48 kHz for received tracks. Linux only.
  func addAudioSink(_ sink: any AudioSink)
  func removeAudioSink(_ sink: any AudioSink)
  /// Gives received (or local) sound to `sink` as bytes, until it is removed. One that is there already isn't added again. Of the iOS
  /// SDK 2026.1.
  func addAudioTrackSink(_ sink: any RTCAudioTrackSink)
  func removeAudioTrackSink(_ sink: any RTCAudioTrackSink)
  /// Gives every picture to `sink` on the thread that made it, beside the renderer. Linux only.
  func addVideoSink(_ sink: any VideoSink)
  func removeVideoSink(_ sink: any VideoSink)
  /// Gives received pictures and sound to `sink` as they came, before they are decoded: a recorder's way (`SoraRecording`). Linux
  /// only. A local stream has none.
  func addEncodedFrameSink(_ sink: any EncodedFrameSink)
  func removeEncodedFrameSink(_ sink: any EncodedFrameSink)
  /// Tells the renderer that the stream is over.
  func terminate()
}

extension MediaStream {
  // For streams of an app's own, such as in tests.
  public func send(encodedVideoFrame: EncodedFrame, codec: VideoCodecKind) {}
  public func send(encodedAudioFrame: EncodedFrame) {}
  public var videoSource: RTCVideoSource? { nil }
  public var hasVideoTrack: Bool { false }
  public var hasAudioTrack: Bool { false }
  public var audioGain: Double? {
    get { nil }
    set {}
  }
  public var stoppedVideoPicture: StoppedVideoPicture {
    get { .freeze }
    set {}
  }
  public func addAudioTrackSink(_ sink: any RTCAudioTrackSink) {}
  public func removeAudioTrackSink(_ sink: any RTCAudioTrackSink) {}
}

/// The one implementation of `MediaStream`, over a stream of the engine.
final class BasicMediaStream: MediaStream, SoundStream, Sendable {
  let handlers = MediaStreamHandlers()
  let creationTime = Date()
  let native: RTCMediaStream
  private weak let channel: MediaChannel?

  private struct State: Sendable {
    var filter: (any VideoFilter)?
    weak var renderer: (any VideoRenderer)?
    var adapter: VideoRendererAdapter?
    var stoppedPicture = StoppedVideoPicture.freeze
    /// Whether the app has sent sound of its own.
    var isFed = false
  }
  private let state = Mutex(State())

  init(_ native: RTCMediaStream, channel: MediaChannel) {
    self.native = native
    self.channel = channel
  }

  var streamId: String { native.streamId }
  var mediaChannel: MediaChannel? { channel }
  private var videoTrack: RTCVideoTrack? { native.videoTracks.first }
  private var audioTrack: RTCAudioTrack? { native.audioTracks.first }

  var hasVideoTrack: Bool { videoTrack != nil }
  var hasAudioTrack: Bool { audioTrack != nil }

  var videoEnabled: Bool {
    get { videoTrack?.isEnabled ?? false }
    set {
      guard let track = videoTrack, track.isEnabled != newValue else { return }
      track.isEnabled = newValue
      if !newValue { state.withLock { $0.adapter }?.stop() }
      handlers.onSwitchVideo?(newValue)
      videoRenderer?.onSwitch(video: newValue)
    }
  }

  var audioEnabled: Bool {
    get { audioTrack?.isEnabled ?? false }
    set {
      guard let track = audioTrack, track.isEnabled != newValue else { return }
      track.isEnabled = newValue
      handlers.onSwitchAudio?(newValue)
      videoRenderer?.onSwitch(audio: newValue)
    }
  }

  var remoteAudioVolume: Double? {
    get { audioTrack.map { $0.source.volume * MediaStreamAudioVolume.max } }
    set {
      guard let newValue, !newValue.isNaN, let track = audioTrack else { return }
      let volume = Swift.min(
        MediaStreamAudioVolume.max, Swift.max(MediaStreamAudioVolume.min, newValue))
      track.source.volume = volume / MediaStreamAudioVolume.max
    }
  }

  var audioGain: Double? {
    get { isLocal ? audioTrack?.source.gain : nil }
    set {
      guard let newValue, isLocal else { return }
      audioTrack?.source.gain = newValue
    }
  }

  var videoFilter: (any VideoFilter)? {
    get { state.withLock { $0.filter } }
    set { state.withLock { $0.filter = newValue } }
  }

  var videoRenderer: (any VideoRenderer)? {
    get { state.withLock { $0.renderer } }
    set {
      let picture = stoppedVideoPicture
      let adapter = newValue.map { VideoRendererAdapter($0, stopped: picture) }
      let (old, oldAdapter) = state.withLock { state in
        defer {
          state.renderer = newValue
          state.adapter = adapter
        }
        return (state.renderer, state.adapter)
      }
      if let oldAdapter { videoTrack?.remove(oldAdapter) }
      if let adapter, let newValue {
        videoTrack?.add(adapter)
        newValue.onAdded(from: self)
      } else {
        old?.onRemoved(from: self)
      }
    }
  }

  var stoppedVideoPicture: StoppedVideoPicture {
    get { state.withLock { $0.stoppedPicture } }
    set {
      let adapter = state.withLock { state in
        state.stoppedPicture = newValue
        return state.adapter
      }
      adapter?.stoppedPicture = newValue
    }
  }

  func send(videoFrame: VideoFrame?) {
    guard let videoFrame, let track = videoTrack else { return }
    let frame = videoFilter?.filter(videoFrame: videoFrame) ?? videoFrame
    track.source.push(frame.nativeFrame.frame)
  }

  func send(audioFrame: AudioFrame) {
    noteFed()
    audioTrack?.source.push(audioFrame)
  }

  func send(encodedVideoFrame: EncodedFrame, codec: VideoCodecKind) {
    videoTrack?.source.push(encodedVideoFrame, codec: codec)
  }

  func send(encodedAudioFrame: EncodedFrame) {
    noteFed()
    audioTrack?.source.push(packet: encodedAudioFrame)
  }

  var videoSource: RTCVideoSource? { isLocal ? videoTrack?.source : nil }
  private var isLocal: Bool { streamId == channel?.configuration.publisherStreamId }

  /// The app sends sound of its own from now on.
  private func noteFed() {
    let wasFed = state.withLock { state in
      defer { state.isFed = true }
      return state.isFed
    }
    if !wasFed { channel?.sora.audio.isFed(self) }
  }

  func sendCaptured(_ audioFrame: AudioFrame) {
    guard !state.withLock({ $0.isFed }) else { return }
    audioTrack?.source.push(audioFrame)
  }

  func addAudioSink(_ sink: any AudioSink) { audioTrack?.add(sink: sink) }
  func removeAudioSink(_ sink: any AudioSink) { audioTrack?.remove(sink: sink) }
  func addAudioTrackSink(_ sink: any RTCAudioTrackSink) { audioTrack?.add(sink) }
  func removeAudioTrackSink(_ sink: any RTCAudioTrackSink) { audioTrack?.remove(sink) }
  func addVideoSink(_ sink: any VideoSink) { videoTrack?.add(sink: sink) }
  func removeVideoSink(_ sink: any VideoSink) { videoTrack?.remove(sink: sink) }

  func addEncodedFrameSink(_ sink: any EncodedFrameSink) {
    videoTrack?.addEncodedFrameSink(sink)
    audioTrack?.addEncodedFrameSink(sink)
  }
  func removeEncodedFrameSink(_ sink: any EncodedFrameSink) {
    videoTrack?.removeEncodedFrameSink(sink)
    audioTrack?.removeEncodedFrameSink(sink)
  }

  func terminate() {
    state.withLock { $0.adapter }?.stop()
    videoRenderer?.onDisconnect(from: mediaChannel)
  }
}

/// What streams are given to, and which of them have been.
final class StreamSinks: Sendable {
  private let make: @Sendable (any MediaStream) -> (any EncodedFrameSink)?
  private let removed: @Sendable (any MediaStream) -> Void
  private let sinks = Mutex<[String: any EncodedFrameSink]>([:])

  init(
    make: @escaping @Sendable (any MediaStream) -> (any EncodedFrameSink)?,
    removed: @escaping @Sendable (any MediaStream) -> Void
  ) {
    self.make = make
    self.removed = removed
  }

  /// Once for each stream.
  func add(to stream: any MediaStream) {
    let id = stream.streamId
    guard sinks.withLock({ $0[id] }) == nil, let sink = make(stream) else { return }
    sinks.withLock { $0[id] = sink }
    stream.addEncodedFrameSink(sink)
  }

  func remove(from stream: any MediaStream) {
    guard let sink = sinks.withLock({ $0.removeValue(forKey: stream.streamId) }) else { return }
    stream.removeEncodedFrameSink(sink)
    removed(stream)
  }
}
