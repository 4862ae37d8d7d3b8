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
  /// How the picture's samples become colours.
  public var colorSpace: VideoColorSpace

  public init(
    buffer: PixelBuffer, timestamp: Instant, rotation: VideoRotation = .none,
    rtpTimestamp: UInt32 = 0, colorSpace: VideoColorSpace = .bt601
  ) {
    self.buffer = buffer
    self.timestamp = timestamp
    self.rotation = rotation
    self.rtpTimestamp = rtpTimestamp
    self.colorSpace = colorSpace
  }

  /// Width in pixels before rotation.
  public var width: Int { buffer.width }
  /// Height in pixels before rotation.
  public var height: Int { buffer.height }
}
