import SoraClock
public import SoraMedia
public import WebRTC

/// A time with its unit, with the field names of Core Media.
public struct MediaTime: Sendable, Hashable {
  public var value: Int64
  /// Units a second.
  public var timescale: Int32

  public init(value: Int64, timescale: Int32) {
    self.value = value
    self.timescale = timescale
  }

  public var seconds: Double { Double(value) / Double(timescale) }
}

/// A picture with its time, for sending and rendering.
public enum VideoFrame: Sendable {
  case native(capturer: RTCVideoCapturer?, frame: RTCVideoFrame)

  /// A frame over a picture in memory (I420 or NV12).
  ///
  /// - Parameters:
  ///   - buffer: the picture, which is not copied.
  ///   - timestamp: capture time on the monotonic clock; now where it isn't given.
  ///   - colorSpace: how its samples become colours, which receivers are told; nil says nothing, and is taken for limited BT.601.
  public init(
    from buffer: PixelBuffer, timestamp: Instant? = nil, colorSpace: VideoColorSpace? = nil
  ) {
    self = .native(
      capturer: nil,
      frame: RTCVideoFrame(
        frame: .init(
          buffer: buffer, timestamp: timestamp ?? SystemClock.now, colorSpace: colorSpace)))
  }

  /// A frame as sinks take it.
  public init(_ frame: RawVideoFrame) {
    self = .native(capturer: nil, frame: RTCVideoFrame(frame: frame))
  }

  /// Width in pixels, before rotation.
  public var width: Int { Int(nativeFrame.width) }
  /// Height in pixels, before rotation.
  public var height: Int { Int(nativeFrame.height) }
  /// Capture or render time on the monotonic clock, in nanoseconds.
  public var timestamp: MediaTime? {
    MediaTime(value: nativeFrame.timeStampNs, timescale: 1_000_000_000)
  }
  /// The frame as sinks take it.
  public var raw: RawVideoFrame { nativeFrame.frame }
  /// The picture: planes, strides, format.
  public var buffer: PixelBuffer { nativeFrame.buffer }

  var nativeFrame: RTCVideoFrame {
    switch self {
    case .native(_, let frame): frame
    }
  }
}

/// Changes frames on their way to the encoder.
public protocol VideoFilter: AnyObject, Sendable {
  /// Runs on the thread that sends the frame.
  func filter(videoFrame: VideoFrame) -> VideoFrame
}
