public import SoraCamera

/// The machine's cameras.
extension CameraVideoCapturer {
  /// The machine's cameras, the front one first. Each is opened for a moment; what may not be opened is left out.
  public static var devices: [CameraDevice] { Cameras.shared.system.devices }

  /// The cameras that there are, at once and after each change of them. Every call makes a stream of its own; of lists that nobody has
  /// read the newest is kept. It ends at once where the system doesn't tell of changes, which the log says. Linux only.
  public static var deviceChanges: AsyncStream<[CameraDevice]> { Cameras.shared.changes }

  /// The capturer of the first camera; nil where there is none now.
  public static var front: CameraVideoCapturer? { Cameras.shared.capturer(for: .front) }
  /// The capturer of the second camera; nil where there is none now.
  public static var back: CameraVideoCapturer? { Cameras.shared.capturer(for: .back) }
  /// The one that runs; of several the one that was started last.
  public static var current: CameraVideoCapturer? { Cameras.shared.current }

  /// Told what all capturers do.
  public static var handlers: CameraVideoCapturerHandlers {
    get { Cameras.shared.handlers }
    set { Cameras.shared.handlers = newValue }
  }

  /// The first camera for front, the second for back; nil where there is none now.
  public static func device(for position: CameraPosition) -> CameraDevice? {
    Cameras.shared.device(for: position)
  }

  /// The format that is nearest to a size: of those with the smallest sum of the differences of width and height the first that has the
  /// frame rate, or else the first. Formats that can't be sent don't count.
  ///
  /// - Parameters:
  ///   - width: pixels.
  ///   - height: pixels.
  ///   - device: the camera.
  ///   - frameRate: frames per second; nil for any.
  /// - Returns: nil where the camera has none, or can't be asked, which the log says.
  public static func format(
    width: Int32, height: Int32, for device: CameraDevice, frameRate: Int? = nil
  ) -> CameraFormat? {
    Cameras.shared.format(width: width, height: height, for: device, frameRate: frameRate)
  }

  /// A frame rate where a format has it, or else the highest that it has. A camera that doesn't tell its rates may have any.
  ///
  /// - Returns: frames per second; nil for a rate below 1.
  public static func maxFrameRate(_ frameRate: Int, for format: CameraFormat) -> Int? {
    format.frameRate(upTo: frameRate)
  }

  /// Stops a camera, starts the one on the other side with the nearest format and rate that it has, and hands the stream over. Where that
  /// fails, the first one goes on.
  public static func flip(
    _ capturer: CameraVideoCapturer, completionHandler: @escaping CompletionHandler
  ) {
    capturer.cameras.flip(capturer, completionHandler: completionHandler)
  }

  /// The same as `flip(_:completionHandler:)`. Linux only.
  public static func flip(_ capturer: CameraVideoCapturer) async throws {
    try await result { flip(capturer, completionHandler: $0) }
  }
}

extension CameraVideoCapturer.Cameras {
  package var changes: AsyncStream<[CameraDevice]> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: [CameraDevice].self, bufferingPolicy: .bufferingNewest(1))
    do throws(CameraError) {
      let watch = try system.watch { continuation.yield($0) }
      continuation.onTermination = { _ in withExtendedLifetime(watch) {} }
    } catch {
      Logger.warn(
        type: .cameraVideoCapturer, message: "changes of the cameras aren't told: \(error)")
      continuation.finish()
    }
    return stream
  }

  package func format(
    width: Int32, height: Int32, for device: CameraDevice, frameRate: Int?
  ) -> CameraFormat? {
    do throws(CameraError) {
      return try system.formats(of: device).nearest(
        width: Int(width), height: Int(height), framesPerSecond: frameRate.map(Double.init))
    } catch {
      Logger.warn(type: .cameraVideoCapturer, message: "\(device) has no formats: \(error)")
      return nil
    }
  }
}
