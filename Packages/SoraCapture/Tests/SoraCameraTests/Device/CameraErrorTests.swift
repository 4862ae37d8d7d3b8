import Foundation
import SoraCamera
import Testing

/// What the kernel's codes mean for who wanted a camera (Linux Media Infrastructure userspace API, part I, "Generic Error Codes").
@Suite struct CameraErrorTests {
  private let path = "/dev/video7"

  @Test func eachCodeHasItsError() {
    let cases: [(Int32, CameraError, String)] = [
      (ENOENT, .noDevice(path: path), "sora devices"), (ENXIO, .noDevice(path: path), "no camera"),
      (EACCES, .noPermission(path: path), "add the user to the group"),
      (EPERM, .noPermission(path: path), "may not be opened"),
      (EBUSY, .busy(path: path), "end the other program"),
      (ENOTTY, .notACamera(path: path), "gives no pictures"),
      (ENOSPC, .noBandwidth(path: path), "another port"),
      (ENODEV, .unplugged(path: path), "was unplugged"),
      (
        EIO, .system(operation: "starting", path: path, code: EIO), "starting of /dev/video7 failed"
      ),
    ]
    for (code, wanted, words) in cases {
      let error = CameraError(DriverFailure(code), "starting", path)
      #expect(error == wanted && "\(error)".contains(words), "\(code): \(error)")
    }
  }

  /// V4L2 has drivers give another format; some say that it is invalid.
  @Test func aFormatIsRefused() {
    let format = CameraFormat(pixelFormat: .nv12, width: 64, height: 32)
    let refused = CameraError(DriverFailure(EINVAL), setting: format, path)
    guard case .formatRefused("NV12 64x32", _) = refused else {
      Issue.record("\(refused)")
      return
    }
    #expect("\(refused)".contains("choose one of its formats"))
    let busy = CameraError(DriverFailure(EBUSY), setting: format, path)
    #expect(busy == .busy(path: path), "another program has it")
  }
}
