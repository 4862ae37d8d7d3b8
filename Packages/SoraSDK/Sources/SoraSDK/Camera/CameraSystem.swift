import Dispatch
package import SoraCamera

/// Where cameras come from: this machine, or what a test has in its place. Safe from any thread.
package protocol CameraSystem: Sendable {
  /// The cameras that there are now, in a constant order.
  var devices: [CameraDevice] { get }
  func formats(of device: CameraDevice) throws(CameraError) -> [CameraFormat]
  /// Opens a camera and starts it.
  ///
  /// - Parameters:
  ///   - deliver: takes each picture, raw or as the camera has encoded it, on a thread of the camera's.
  ///   - notify: told of stalls and of an end that nobody asked for, on the same thread.
  func open(
    _ device: CameraDevice, format: CameraFormat, framesPerSecond: Int,
    deliver: @escaping @Sendable (CapturedFrame) -> Void,
    notify: @escaping @Sendable (CameraCapture.Event) -> Void
  ) throws(CameraError) -> any OpenCamera
  /// What can be told to a camera that encodes.
  func encoding(of device: CameraDevice) -> any EncodingCamera
  /// Tells all cameras, at once and after each change, until what it returns is released.
  func watch(
    _ changed: @escaping @Sendable ([CameraDevice]) -> Void
  ) throws(CameraError) -> any Sendable
}

/// A camera that encodes; what it can't be told it doesn't do, and goes on as it was.
package protocol EncodingCamera: Sendable {
  /// Bits per second that it can be told to keep to; nil where it can't be told.
  var bitRates: ClosedRange<Int>? { get }
  /// - Returns: whether it can be asked.
  @discardableResult func requestKeyFrame() -> Bool
  /// - Returns: whether it can be told.
  @discardableResult func setBitRate(_ bitsPerSecond: Int) -> Bool
}

extension CameraEncoding: EncodingCamera {}

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
    deliver: @escaping @Sendable (CapturedFrame) -> Void,
    notify: @escaping @Sendable (CameraCapture.Event) -> Void
  ) throws(CameraError) -> any OpenCamera {
    try CameraCapture(
      device, format: format, framesPerSecond: Double(framesPerSecond),
      deliver: deliver, notify: notify)
  }

  func encoding(of device: CameraDevice) -> any EncodingCamera { CameraEncoding(device) }

  func watch(
    _ changed: @escaping @Sendable ([CameraDevice]) -> Void
  ) throws(CameraError) -> any Sendable {
    let monitor = try CameraMonitor(queue: Self.queue, changed: changed)
    // On the monitor's queue, so that an older list never comes after a newer one.
    Self.queue.async { changed(CameraDevice.all) }
    return monitor
  }
}
