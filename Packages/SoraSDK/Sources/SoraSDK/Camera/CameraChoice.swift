import SoraCamera
import SoraMedia

/// A format and a frame rate that a camera can be started with.
struct CameraChoice: Sendable {
  let format: CameraFormat
  /// Frames per second.
  let frameRate: Int

  /// - Throws: `SoraError.cameraError` for a format whose frames can't be sent, and for a rate below 1.
  init(format: CameraFormat, frameRate: Int) throws(SoraError) {
    guard format.pixelFormat.isSupported else {
      throw .cameraError(reason: "frames of \(format) can't be read; choose another format")
    }
    guard frameRate > 0 else {
      throw .cameraError(
        reason: "\(frameRate) frames per second were asked for; ask for 1 or more")
    }
    self.format = format
    self.frameRate = frameRate
  }

  /// What is nearest to a size in pixels and a rate.
  ///
  /// - Parameter codec: where the camera encodes with it, its encoded frames are taken; raw ones otherwise, and for nil.
  /// - Throws: `SoraError.cameraError` where there is nothing that can be sent.
  init(
    width: Int, height: Int, frameRate: Int, codec: VideoCodecKind? = nil,
    from formats: [CameraFormat], of device: CameraDevice
  ) throws(SoraError) {
    let encoded = codec.flatMap { CameraPixelFormat(codec: $0) }.flatMap {
      formats.nearest(
        width: width, height: height, framesPerSecond: Double(frameRate), codec: $0)
    }
    guard
      let format = encoded
        ?? formats.nearest(width: width, height: height, framesPerSecond: Double(frameRate))
    else {
      throw .cameraError(reason: "\(device) has no format whose frames can be sent")
    }
    try self.init(format: format, frameRate: format.frameRate(upTo: frameRate) ?? frameRate)
  }
}

extension CameraFormat {
  /// `frameRate(upTo:)` in whole frames per second; nil for a rate below 1.
  func frameRate(upTo wanted: Int) -> Int? {
    guard wanted > 0 else { return nil }
    // Of a format without rates it is what was asked for, and the largest integers have no double.
    return Int(exactly: frameRate(upTo: Double(wanted)).rounded()) ?? wanted
  }
}

extension SoraError {
  /// What a camera says, in the words of the SDK.
  init(_ error: CameraError) { self = .cameraError(reason: "\(error)") }
}
