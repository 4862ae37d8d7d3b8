import Foundation
public import SoraCodecs
public import SoraMedia
import Synchronization

/// Base of audio and video tracks. Safe from any thread.
open class RTCMediaStreamTrack: @unchecked Sendable {
  // @unchecked: `let`s and one mutex.
  public enum ReadyState: Int, Sendable { case live, ended }

  public let trackId: String
  /// `audio` or `video`.
  public let kind: String
  private let flags = Mutex((enabled: true, ended: false))
  /// Where a received track's frames go before they are decoded.
  let encodedTap: EncodedTap

  init(trackId: String, kind: MediaKind) {
    self.trackId = trackId
    self.kind = kind.rawValue
    encodedTap = EncodedTap(kind)
  }

  /// Gives a received track's frames to `sink` as they came, before they are decoded and whether the track is enabled or not (as
  /// W3C's encoded transforms do, read only). The sink is held until it is removed, and told at once how to ask for a key frame.
  /// A track that is sent has none.
  public func addEncodedFrameSink(_ sink: any EncodedFrameSink) { encodedTap.add(sink) }
  public func removeEncodedFrameSink(_ sink: any EncodedFrameSink) { encodedTap.remove(sink) }

  /// A track that isn't enabled sends black frames or silence, and renders nothing.
  public var isEnabled: Bool {
    get { flags.withLock { $0.enabled } }
    set { flags.withLock { $0.enabled = newValue } }
  }

  public var readyState: ReadyState { flags.withLock { $0.ended ? .ended : .live } }

  func end() { flags.withLock { $0.ended = true } }
}

/// A video track: from a source of ours, or received.
public final class RTCVideoTrack: RTCMediaStreamTrack, VideoTrackSource, @unchecked Sendable {
  // @unchecked: `let`s and one mutex.
  public let source: RTCVideoSource
  private let adapters = Mutex<[ObjectIdentifier: RendererAdapter]>([:])
  private let hint = Mutex<VideoContentHint?>(nil)

  /// What the frames show (W3C mst-content-hint); nil if unknown. Chooses the encoder's tools, and how a video
  /// is reduced where the sender's parameters have no degradation preference. In force from the next frame on.
  public var contentHint: VideoContentHint? {
    get { hint.withLock { $0 } }
    set { hint.withLock { $0 = newValue } }
  }

  init(source: RTCVideoSource, trackId: String) {
    self.source = source
    super.init(trackId: trackId, kind: .video)
  }

  /// Draws the track's frames with `renderer`, held strongly until it is removed.
  public func add(_ renderer: any RTCVideoRenderer) {
    let adapter = RendererAdapter(renderer, track: self)
    let old = adapters.withLock { $0.updateValue(adapter, forKey: ObjectIdentifier(renderer)) }
    if let old { source.broadcaster.remove(old) }
    source.broadcaster.add(adapter)
  }

  public func remove(_ renderer: any RTCVideoRenderer) {
    if let adapter = adapters.withLock({ $0.removeValue(forKey: ObjectIdentifier(renderer)) }) {
      source.broadcaster.remove(adapter)
    }
  }

  /// Gives every frame to `sink`, enabled or not, on the thread that made it.
  public func add(sink: any VideoSink) { source.broadcaster.add(sink) }
  public func remove(sink: any VideoSink) { source.broadcaster.remove(sink) }
  package var encodedVideo: EncodedVideoBroadcaster { source.encoded }
}

/// Tells a renderer of size changes, which frames carry implicitly.
private final class RendererAdapter: VideoSink, Sendable {
  private let renderer: any RTCVideoRenderer
  private weak let track: RTCVideoTrack?
  private let size = Mutex((width: 0, height: 0))

  init(_ renderer: any RTCVideoRenderer, track: RTCVideoTrack) {
    self.renderer = renderer
    self.track = track
  }

  func receive(_ frame: RawVideoFrame) {
    guard track?.isEnabled == true else { return }
    let turned = frame.rotation == .clockwise90 || frame.rotation == .clockwise270
    let width = turned ? frame.height : frame.width
    let height = turned ? frame.width : frame.height
    let changed = size.withLock { size in
      defer { size = (width, height) }
      return size != (width, height)
    }
    if changed { renderer.setSize(CGSize(width: width, height: height)) }
    renderer.renderFrame(RTCVideoFrame(frame: frame))
  }
}

/// An audio track: from a source of ours, or received.
public final class RTCAudioTrack: RTCMediaStreamTrack, @unchecked Sendable {
  // @unchecked: `let`s and mutexes.
  public let source: RTCAudioSource
  private let adapters = Mutex<[ObjectIdentifier: AudioTrackSinkAdapter]>([:])
  private let dtmfHandler = Mutex<(@Sendable (RTCDtmfEvent) -> Void)?>(nil)

  init(source: RTCAudioSource, trackId: String) {
    self.source = source
    super.init(trackId: trackId, kind: .audio)
  }

  /// Gives the track's audio to `sink`: for received tracks 10 ms at a time at 48 kHz, on a serial queue of the track's own,
  /// where a slow sink holds up no other track (`AudioSink.receive`).
  public func add(sink: any AudioSink) { source.broadcaster.add(sink) }
  public func remove(sink: any AudioSink) { source.broadcaster.remove(sink) }

  /// Gives the track's audio to `sink` as bytes. It is held until it is removed; one that is there already isn't added again.
  public func add(_ sink: any RTCAudioTrackSink) {
    let adapter = AudioTrackSinkAdapter(sink)
    let isNew = adapters.withLock { adapters in
      guard adapters[ObjectIdentifier(sink)] == nil else { return false }
      adapters[ObjectIdentifier(sink)] = adapter
      return true
    }
    if isNew { source.broadcaster.add(adapter) }
  }

  /// Gives it no more. Does nothing where it wasn't added.
  public func remove(_ sink: any RTCAudioTrackSink) {
    if let adapter = adapters.withLock({ $0.removeValue(forKey: ObjectIdentifier(sink)) }) {
      source.broadcaster.remove(adapter)
    }
  }

  /// Told of the keys of a telephone that the sender of a received track tells of (RFC 4733): once when one is pressed and once when it is let
  /// go, also over a link that loses packets. On the queue of the connection's delegate.
  public var onDtmf: (@Sendable (RTCDtmfEvent) -> Void)? {
    get { dtmfHandler.withLock { $0 } }
    set { dtmfHandler.withLock { $0 = newValue } }
  }
}

/// A group of tracks with an id: at most one of each kind in practice. Safe from any thread.
public final class RTCMediaStream: Sendable {
  public let streamId: String
  private let tracks = Mutex<(audio: [RTCAudioTrack], video: [RTCVideoTrack])>(([], []))

  init(streamId: String) { self.streamId = streamId }

  public var audioTracks: [RTCAudioTrack] { tracks.withLock { $0.audio } }
  public var videoTracks: [RTCVideoTrack] { tracks.withLock { $0.video } }

  func holds(_ track: RTCMediaStreamTrack) -> Bool {
    tracks.withLock { tracks in
      tracks.audio.contains { $0 === track } || tracks.video.contains { $0 === track }
    }
  }

  public func addAudioTrack(_ track: RTCAudioTrack) {
    tracks.withLock { if !$0.audio.contains(where: { $0 === track }) { $0.audio.append(track) } }
  }
  public func addVideoTrack(_ track: RTCVideoTrack) {
    tracks.withLock { if !$0.video.contains(where: { $0 === track }) { $0.video.append(track) } }
  }
  public func removeAudioTrack(_ track: RTCAudioTrack) {
    tracks.withLock { $0.audio.removeAll { $0 === track } }
  }
  public func removeVideoTrack(_ track: RTCVideoTrack) {
    tracks.withLock { $0.video.removeAll { $0 === track } }
  }
}
