public import Foundation
import Synchronization
import WebRTC

/// Shows the frames of a stream.
public protocol VideoRenderer: AnyObject, Sendable {
  /// The size of the frames that follow changed. On the main queue in apps that run one; see `VideoRendererQueue`.
  func onChange(size: CGSize)
  /// Shows one frame. On the same queue as `onChange`.
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
final class VideoRendererAdapter: RTCVideoRenderer, Sendable {
  private weak let renderer: (any VideoRenderer)?

  init(_ renderer: any VideoRenderer) { self.renderer = renderer }

  func setSize(_ size: CGSize) {
    run { $0.onChange(size: size) }
  }

  func renderFrame(_ frame: RTCVideoFrame?) {
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
