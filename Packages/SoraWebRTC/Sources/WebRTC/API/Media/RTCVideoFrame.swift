public import Foundation
public import SoraMedia

/// Clockwise rotation of a frame.
public enum RTCVideoRotation: Int, Sendable {
  case _0 = 0
  case _90 = 90
  case _180 = 180
  case _270 = 270
}

/// One video frame with its time.
public final class RTCVideoFrame: Sendable {
  /// The frame in the words that every module of the project shares.
  public let frame: RawVideoFrame

  public init(frame: RawVideoFrame) { self.frame = frame }

  /// A frame over planes in memory.
  ///
  /// - Parameters:
  ///   - buffer: the planes.
  ///   - rotation: how to turn it before it is shown.
  ///   - timeStampNs: capture time in nanoseconds on the monotonic clock.
  ///   - colorSpace: how its samples become colours, which receivers are told; nil says nothing, and is taken for limited BT.601.
  public convenience init(
    buffer: PixelBuffer, rotation: RTCVideoRotation, timeStampNs: Int64,
    colorSpace: VideoColorSpace? = nil
  ) {
    self.init(
      frame: RawVideoFrame(
        buffer: buffer, timestamp: Instant(nanoseconds: timeStampNs),
        rotation: VideoRotation(rawValue: UInt8(rotation.rawValue / 90)) ?? .none,
        colorSpace: colorSpace))
  }

  public var width: Int32 { Int32(clamping: frame.width) }
  public var height: Int32 { Int32(clamping: frame.height) }
  public var buffer: PixelBuffer { frame.buffer }
  public var rotation: RTCVideoRotation {
    RTCVideoRotation(rawValue: frame.rotation.degrees) ?? ._0
  }
  /// Capture or render time in nanoseconds on the monotonic clock.
  public var timeStampNs: Int64 { frame.timestamp.nanoseconds }
}

/// Draws the frames of a video track.
public protocol RTCVideoRenderer: AnyObject, Sendable {
  /// The size of the frames that follow changed. Runs where `renderFrame` runs.
  func setSize(_ size: CGSize)
  /// Draws one frame. Runs on the thread that made the frame: a capture thread for local tracks, the decoder's queue
  /// for remote ones. Return soon.
  func renderFrame(_ frame: RTCVideoFrame?)
}

/// Takes what a capturer captured.
public protocol RTCVideoCapturerDelegate: AnyObject, Sendable {
  func capturer(_ capturer: RTCVideoCapturer, didCapture frame: RTCVideoFrame)
}

/// Produces frames for its delegate. Subclass it for a device; or make a plain one to push frames of your own.
open class RTCVideoCapturer: @unchecked Sendable {
  // @unchecked: the delegate is set once, here.
  public private(set) weak var delegate: (any RTCVideoCapturerDelegate)?

  public init(delegate: any RTCVideoCapturerDelegate) { self.delegate = delegate }
}
