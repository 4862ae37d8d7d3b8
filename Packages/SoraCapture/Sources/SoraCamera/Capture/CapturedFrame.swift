public import SoraMedia

/// One picture of a camera.
public struct CapturedFrame: Sendable {
  public enum Content: Sendable {
    /// Pixels, in the camera's memory where its format allows that. Whoever keeps it keeps a buffer from the camera; when few are
    /// left, pictures are copied.
    case picture(PixelBuffer)
    /// What the camera encoded: an Annex B access unit.
    case encoded(EncodedBuffer, isKeyFrame: Bool)
  }

  public var content: Content
  /// When the driver says that the picture was taken, on the local monotonic clock.
  public var timestamp: Instant
  /// The driver's count of pictures, those included that it lost.
  public var sequence: UInt32
  /// How a picture's samples become colours; nil where the driver doesn't tell, which is taken for limited BT.601.
  public var colorSpace: VideoColorSpace?
  /// The camera's own memory, where the picture lies in it.
  public var deviceMemory: CameraDeviceMemory?

  /// A picture of no camera, for who stands in for one.
  public init(
    content: Content, timestamp: Instant, sequence: UInt32 = 0, colorSpace: VideoColorSpace? = nil,
    deviceMemory: CameraDeviceMemory? = nil
  ) {
    self.content = content
    self.timestamp = timestamp
    self.sequence = sequence
    self.colorSpace = colorSpace
    self.deviceMemory = deviceMemory
  }

  /// The picture as sinks take it, with the colours that the driver states; nil for what the camera encoded.
  public var rawFrame: RawVideoFrame? {
    guard case .picture(let picture) = content else { return nil }
    return RawVideoFrame(buffer: picture, timestamp: timestamp, colorSpace: colorSpace)
  }

  /// What the camera encoded as sinks take it; nil for pixels.
  ///
  /// - Parameters:
  ///   - width: in pixels.
  ///   - height: in pixels.
  public func encodedFrame(width: Int, height: Int) -> EncodedFrame? {
    guard case .encoded(let payload, let isKeyFrame) = content else { return nil }
    return EncodedFrame(
      payload: payload, isKeyFrame: isKeyFrame, rtpTimestamp: 0, timestamp: timestamp, width: width,
      height: height)
  }
}

/// The camera's memory that holds a picture, for another device to read: a GPU, an encoder. Keep the picture meanwhile.
public struct CameraDeviceMemory: Sendable {
  let loans: BufferLoans
  let index: Int

  /// A DMABUF file descriptor of a plane of memory. The caller closes it.
  ///
  /// - Throws: `CameraError.system` where the driver can't give one, `unplugged` after the camera was stopped.
  public func exportDescriptor(plane: Int = 0) throws(CameraError) -> Int32 {
    try loans.export(index, plane: plane)
  }
}
