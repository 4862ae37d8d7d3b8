import Foundation
import SoraCamera

/// Fills a loopback camera with access units of a folder, a file each, in the order of their names and again and again, 30 a second: for H.265,
/// which ffmpeg's output to V4L2 doesn't have. Until it is killed, for ten minutes at most.
func feed(_ path: String, from folder: String) throws {
  let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  let units = try names.map { try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")) }
  let device = open(path, O_WRONLY)
  guard device >= 0, !units.isEmpty else { fail("nothing to feed, or nobody: \(path)") }
  defer { close(device) }
  // `struct v4l2_format` (linux/videodev2.h), as words: its kind, an output of pictures, and from the third on width, height, FourCC, field (none),
  // bytes a line and bytes a picture.
  var format = [UInt32](repeating: 0, count: 52)
  format[0] = 2
  format.replaceSubrange(2..<8, with: [320, 180, CameraPixelFormat.h265.rawValue, 1, 0, 1 << 18])
  // VIDIOC_S_FMT.
  guard ioctl(device, 0xC0D0_5605, &format) == 0 else { fail("\(path) takes no H.265: \(errno)") }
  for index in 0..<18_000 {
    let unit = units[index % units.count]
    _ = unit.withUnsafeBytes { Glibc.write(device, $0.baseAddress, $0.count) }
    usleep(33_333)
  }
}
