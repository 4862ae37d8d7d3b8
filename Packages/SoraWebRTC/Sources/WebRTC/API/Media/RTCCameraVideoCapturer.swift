public import SoraCamera
import SoraMedia
import Synchronization

/// Takes frames from a V4L2 camera and gives them to its delegate, such as an `RTCVideoSource`.
///
/// What iOS has of AVFoundation is SoraCamera's here: `CameraDevice`, `CameraFormat`. Everything may be called from any thread; frames
/// come on a thread of the camera's own.
public final class RTCCameraVideoCapturer: RTCVideoCapturer, @unchecked Sendable {
  // @unchecked: its state is in a mutex.
  private let running = Mutex<CameraCapture?>(nil)

  /// The cameras of the machine. Each is opened for a moment; what may not be opened is left out.
  public static func captureDevices() -> [CameraDevice] { CameraDevice.all }

  /// What a camera can give and frames can be sent of: pixels and JPEG. None where it can't be asked.
  public static func supportedFormats(for device: CameraDevice) -> [CameraFormat] {
    ((try? device.formats()) ?? []).filter {
      $0.pixelFormat.isSupported && !$0.pixelFormat.isVideoCodec
    }
  }

  /// Opens a camera and starts it, in place of the one that runs.
  ///
  /// - Parameters:
  ///   - device: the camera.
  ///   - format: one of `supportedFormats(for:)`.
  ///   - fps: frames per second; the camera takes the nearest that it has.
  ///   - completionHandler: told nil or a `CameraError`, on the caller's thread, before this returns.
  public func startCapture(
    with device: CameraDevice, format: CameraFormat, fps: Int,
    completionHandler: ((any Error)?) -> Void = { _ in }
  ) {
    stopCapture()
    do throws(CameraError) {
      let capture = try CameraCapture(
        device, format: format, framesPerSecond: Double(fps),
        deliver: { [weak self] frame in
          guard let self, let frame = frame.rawFrame else { return }
          delegate?.capturer(self, didCapture: RTCVideoFrame(frame: frame))
        })
      let other = running.withLock { running in
        let other = running
        running = capture
        return other
      }
      other?.stop()
      completionHandler(nil)
    } catch {
      completionHandler(error)
    }
  }

  /// Stops the camera and closes it; nothing where none runs. Waits for its last frame, unless it is called from there.
  public func stopCapture(completionHandler: () -> Void = {}) {
    let capture = running.withLock { running in
      let capture = running
      running = nil
      return capture
    }
    capture?.stop()
    completionHandler()
  }

  deinit { running.withLock { $0 }?.stop() }
}
