import Dispatch
package import SoraCamera
package import SoraMedia

/// Where cameras come from: this machine, or what a test has in its place. Safe from any thread.
package protocol CameraSystem: Sendable {
  /// The cameras that there are now, in a constant order.
  var devices: [CameraDevice] { get }
  func formats(of device: CameraDevice) throws(CameraError) -> [CameraFormat]
  /// Opens a camera and starts it.
  ///
  /// - Parameters:
  ///   - deliver: takes each picture with its capture time, on a thread of the camera's.
  ///   - notify: told of stalls and of an end that nobody asked for, on the same thread.
  func open(
    _ device: CameraDevice, format: CameraFormat, framesPerSecond: Int,
    deliver: @escaping @Sendable (PixelBuffer, Instant) -> Void,
    notify: @escaping @Sendable (CameraCapture.Event) -> Void
  ) throws(CameraError) -> any OpenCamera
  /// Tells all cameras, at once and after each change, until what it returns is released.
  func watch(
    _ changed: @escaping @Sendable ([CameraDevice]) -> Void
  ) throws(CameraError) -> any Sendable
}

/// A camera that is running.
package protocol OpenCamera: Sendable {
  /// Ends it. Nothing is delivered after it has returned.
  func stop()
}

extension CameraCapture: OpenCamera {}

/// The cameras of this machine.
struct MachineCameras: CameraSystem {
  private static let queue = DispatchQueue(label: "sora.camera.watch")

  var devices: [CameraDevice] { CameraDevice.all }

  func formats(of device: CameraDevice) throws(CameraError) -> [CameraFormat] {
    try device.formats()
  }

  func open(
    _ device: CameraDevice, format: CameraFormat, framesPerSecond: Int,
    deliver: @escaping @Sendable (PixelBuffer, Instant) -> Void,
    notify: @escaping @Sendable (CameraCapture.Event) -> Void
  ) throws(CameraError) -> any OpenCamera {
    try CameraCapture(
      device, format: format, framesPerSecond: Double(framesPerSecond),
      deliver: { frame in
        // Formats whose frames are encoded already aren't opened.
        if case .picture(let picture) = frame.content { deliver(picture, frame.timestamp) }
      }, notify: notify)
  }

  func watch(
    _ changed: @escaping @Sendable ([CameraDevice]) -> Void
  ) throws(CameraError) -> any Sendable {
    let monitor = try CameraMonitor(queue: Self.queue, changed: changed)
    // On the monitor's queue, so that an older list never comes after a newer one.
    Self.queue.async { changed(CameraDevice.all) }
    return monitor
  }
}
