import SoraCamera
import Testing
import WebRTC

/// What needs no camera; frames are seen in DeviceTests.
@Suite struct CameraCapturerTests {
  private final class Ignoring: RTCVideoCapturerDelegate {
    func capturer(_: RTCVideoCapturer, didCapture _: RTCVideoFrame) {}
  }

  @Test func aCameraThatIsNotThereIsOneError() {
    let delegate = Ignoring()
    let capturer = RTCCameraVideoCapturer(delegate: delegate)
    let missing = CameraDevice(path: "/dev/video9999", name: "none", bus: "", driver: "")
    #expect(RTCCameraVideoCapturer.supportedFormats(for: missing).isEmpty)
    let format = CameraFormat(pixelFormat: .yuyv, width: 640, height: 480)
    var told: [(any Error)?] = []
    capturer.startCapture(with: missing, format: format, fps: 30) { told.append($0) }
    #expect(told.count == 1)
    #expect(told.first.flatMap { $0 } as? CameraError == .noDevice(path: "/dev/video9999"))
    var isStopped = false
    capturer.stopCapture { isStopped = true }
    #expect(isStopped)
  }
}
