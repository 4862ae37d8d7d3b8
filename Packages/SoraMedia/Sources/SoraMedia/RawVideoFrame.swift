/// Clockwise rotation to apply before showing a picture (3GPP TS 26.114 coordination of video orientation).
public enum VideoRotation: UInt8, Sendable, Hashable {
  case none = 0
  case clockwise90 = 1
  case clockwise180 = 2
  case clockwise270 = 3

  /// The rotation in degrees.
  public var degrees: Int { Int(rawValue) * 90 }
}

/// One uncompressed picture with its time. Copying a frame copies a reference, never pixels.
public struct RawVideoFrame: Sendable {
  public var buffer: PixelBuffer
  /// When the picture was captured, or, from a decoder, when it is to be shown, on the local monotonic clock.
  public var timestamp: Instant
  public var rotation: VideoRotation
  /// The RTP timestamp (90 kHz) that the frame arrived with; 0 for frames that were captured here.
  public var rtpTimestamp: UInt32
  /// How the picture's samples become colours, where whoever made it has said so: encoders tell it to receivers. Where nobody has,
  /// streams don't say it either.
  public var statedColorSpace: VideoColorSpace?

  public init(
    buffer: PixelBuffer, timestamp: Instant, rotation: VideoRotation = .none,
    rtpTimestamp: UInt32 = 0, colorSpace: VideoColorSpace? = nil
  ) {
    self.buffer = buffer
    self.timestamp = timestamp
    self.rotation = rotation
    self.rtpTimestamp = rtpTimestamp
    statedColorSpace = colorSpace
  }

  /// How the picture's samples become colours: limited-range BT.601 where nobody has said.
  public var colorSpace: VideoColorSpace {
    get { statedColorSpace ?? .bt601 }
    set { statedColorSpace = newValue }
  }

  /// Width in pixels before rotation.
  public var width: Int { buffer.width }
  /// Height in pixels before rotation.
  public var height: Int { buffer.height }
}
