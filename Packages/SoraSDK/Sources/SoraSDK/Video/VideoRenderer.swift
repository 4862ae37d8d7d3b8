public import Foundation
import SoraMedia
import Synchronization
package import WebRTC

/// Shows the frames of a stream.
public protocol VideoRenderer: AnyObject, Sendable {
  /// The size of the frames that follow changed. On the main queue in apps that run one; see `VideoRendererQueue`.
  func onChange(size: CGSize)
  /// Shows one frame. On the same queue as `onChange`. nil where the video has stopped and `MediaStream.stoppedVideoPicture` says so:
  /// what that gives comes on the thread that stops the video, or a timer's, unless `VideoRendererQueue` is `.main`.
  func render(videoFrame: VideoFrame?)
  /// The stream's channel ended.
  func onDisconnect(from: MediaChannel?)
  /// The renderer was set on a stream. On the thread that set it.
  func onAdded(from: any MediaStream)
  /// The renderer was taken off a stream. On the thread that did it.
  func onRemoved(from: any MediaStream)
  /// The stream's video was switched. On the thread that switched it.
  func onSwitch(video: Bool)
  /// The stream's audio was switched. On the thread that switched it.
  func onSwitch(audio: Bool)
}

extension VideoRenderer {
  public func onChange(size: CGSize) {}
  public func onDisconnect(from: MediaChannel?) {}
  public func onAdded(from: any MediaStream) {}
  public func onRemoved(from: any MediaStream) {}
  public func onSwitch(video: Bool) {}
  public func onSwitch(audio: Bool) {}
}

/// Where renderers run. A server program has no main run loop, so the default isn't the main queue as it is on iOS:
/// frames come on the decoder's queue, and a program with a user interface sets `.main`.
public enum VideoRendererQueue: Sendable {
  /// The thread that made the frame: no hop, no delay.
  case decoder
  /// The main queue, asynchronously, as the iOS SDK does.
  case main

  private static let storage = Mutex(VideoRendererQueue.decoder)

  /// The choice for the whole process.
  public static var current: VideoRendererQueue {
    get { storage.withLock { $0 } }
    set { storage.withLock { $0 = newValue } }
  }
}

/// Between a track of the engine and a renderer of the app, which it holds weakly.
package final class VideoRendererAdapter: RTCVideoRenderer, Sendable {
  private struct State: Sendable {
    var stopped: StoppedVideoPicture
    /// The newest frame without its picture; nil before the first.
    var last: Last?
    /// Whether the renderer was told of the stop since.
    var hasStopped = false
    var timer: HeldTimer?
  }
  private struct Last: Sendable {
    var width: Int
    var height: Int
    var colorSpace: VideoColorSpace
    var arrival: Instant

    var black: RTCVideoFrame {
      RTCVideoFrame(
        frame: RawVideoFrame(
          buffer: .black(width: width, height: height, luma: colorSpace.black), timestamp: .now,
          colorSpace: colorSpace))
    }
  }

  private static let queue = DispatchQueue(label: "sora.videoRenderer.stopped")
  private weak let renderer: (any VideoRenderer)?
  private let patience: Duration
  private let state: Mutex<State>

  /// - Parameters:
  ///   - stopped: what the renderer gets when the video stops.
  ///   - patience: without a frame for so long, it has.
  package init(
    _ renderer: any VideoRenderer, stopped: StoppedVideoPicture = .freeze,
    patience: Duration = .seconds(2)
  ) {
    self.renderer = renderer
    self.patience = patience
    state = Mutex(State(stopped: stopped))
    stoppedPicture = stopped
  }

  package var stoppedPicture: StoppedVideoPicture {
    get { state.withLock { $0.stopped } }
    set {
      state.withLock { state in
        state.stopped = newValue
        if newValue == .freeze {
          state.timer = nil
        } else if state.timer == nil {
          state.timer = HeldTimer(every: patience / 4, on: Self.queue) { [weak self] in
            self?.look()
          }
        }
      }
    }
  }

  package func setSize(_ size: CGSize) {
    run { $0.onChange(size: size) }
  }

  package func renderFrame(_ frame: RTCVideoFrame?) {
    if let frame = frame?.frame {
      state.withLock { state in
        state.last = Last(
          width: frame.width, height: frame.height, colorSpace: frame.colorSpace, arrival: .now)
        state.hasStopped = false
      }
    }
    render(frame)
  }

  /// The video has stopped. Does nothing where the renderer knows, or has had no frame.
  package func stop() {
    let end = state.withLock { state -> (last: Last, picture: StoppedVideoPicture)? in
      guard state.stopped != .freeze, !state.hasStopped, let last = state.last else { return nil }
      state.hasStopped = true
      return (last, state.stopped)
    }
    guard let end else { return }
    render(end.picture == .black ? end.last.black : nil)
  }

  private func look() {
    let isLate = state.withLock { state in
      state.last.map { Instant.now - $0.arrival > patience } ?? false
    }
    if isLate { stop() }
  }

  private func render(_ frame: RTCVideoFrame?) {
    run { $0.render(videoFrame: frame.map { .native(capturer: nil, frame: $0) }) }
  }

  private func run(_ body: @escaping @Sendable (any VideoRenderer) -> Void) {
    guard let renderer else { return }
    switch VideoRendererQueue.current {
    case .decoder: body(renderer)
    case .main: DispatchQueue.main.async { body(renderer) }
    }
  }
}
