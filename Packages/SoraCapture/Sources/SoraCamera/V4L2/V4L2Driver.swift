import CSoraV4L2
import SoraMedia
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A V4L2 device that is open.
final class V4L2Driver: CaptureDriver, DriverQueries, ControlQueries {
  /// The kernel's VIDEO_MAX_FRAME.
  private static let mostBuffers: UInt32 = 32

  let path: String
  private let fd: Int32
  private let timer: WaitTimer
  private let isClosed = Mutex(false)
  private let capability: sora_v4l2_capability

  /// - Throws: `noDevice`, `noPermission`, `busy`, `notACamera` or `system`.
  init(path: String) throws(CameraError) {
    self.path = path
    var fd: Int32 = -1
    try Self.check(unsafe sora_v4l2_open(path, &fd), "opening", path)
    var capability = sora_v4l2_capability()
    let code = unsafe sora_v4l2_capabilities(fd, &capability)
    guard code == 0, capability.type != 0 else {
      sora_v4l2_close(fd)
      if code == 0 || code == ENOTTY || code == EINVAL { throw .notACamera(path: path) }
      throw CameraError(DriverFailure(code), "asking", path)
    }
    do throws(DriverFailure) { timer = try WaitTimer() } catch {
      sora_v4l2_close(fd)
      throw .system(operation: "opening", path: path, code: error.code)
    }
    self.fd = fd
    self.capability = capability
  }

  deinit { close() }

  /// The device's name for people, where it is plugged in, and the kernel's driver.
  var name: String { text(of: capability.card) }
  var bus: String { text(of: capability.bus) }
  var driver: String { text(of: capability.driver) }

  // MARK: What there is

  func format(_ index: UInt32) throws(DriverFailure) -> CameraPixelFormat {
    var fourcc: UInt32 = 0
    try Self.check(unsafe sora_v4l2_format(fd, capability.type, index, &fourcc))
    return CameraPixelFormat(rawValue: fourcc)
  }

  func sizes(of format: CameraPixelFormat, _ index: UInt32) throws(DriverFailure) -> FrameSizes {
    var sizes = sora_v4l2_sizes()
    try Self.check(unsafe sora_v4l2_size(fd, format.rawValue, index, &sizes))
    return FrameSizes(sizes)
  }

  func intervals(
    of format: CameraPixelFormat, width: Int, height: Int, _ index: UInt32
  ) throws(DriverFailure) -> FrameIntervals {
    var intervals = sora_v4l2_intervals()
    try Self.check(
      unsafe sora_v4l2_interval(
        fd, format.rawValue, UInt32(clamping: width), UInt32(clamping: height), index, &intervals))
    return FrameIntervals(intervals)
  }

  func presentSize() throws(DriverFailure) -> (width: UInt32, height: UInt32) {
    var picture = sora_v4l2_picture()
    try Self.check(unsafe sora_v4l2_get_picture(fd, capability.type, &picture))
    return (picture.width, picture.height)
  }

  // MARK: Controls

  func control(after id: UInt32) throws(DriverFailure) -> ControlAnswer {
    var found = sora_v4l2_control()
    try Self.check(unsafe sora_v4l2_next_control(fd, id, &found))
    return ControlAnswer(found)
  }

  func menuItem(_ index: UInt32, of control: ControlAnswer) throws(DriverFailure) -> String {
    var item = sora_v4l2_item()
    try Self.check(
      unsafe sora_v4l2_menu_item(fd, control.id, index, control.isIntegerMenu ? 1 : 0, &item))
    return control.isIntegerMenu ? "\(item.number)" : text(of: item.name)
  }

  func readControl(_ id: UInt32, is64: Bool) throws(DriverFailure) -> Int64 {
    var value: Int64 = 0
    try Self.check(unsafe sora_v4l2_get_control(fd, id, is64 ? 1 : 0, &value))
    return value
  }

  func writeControl(_ id: UInt32, is64: Bool, _ value: Int64) throws(DriverFailure) {
    try Self.check(sora_v4l2_set_control(fd, id, is64 ? 1 : 0, value))
  }

  // MARK: CaptureDriver

  func configure(
    _ format: CameraFormat, framesPerSecond: Double?
  ) throws(CameraError) -> (layout: PictureLayout, framesPerSecond: Double?) {
    var picture = sora_v4l2_picture()
    picture.fourcc = format.pixelFormat.rawValue
    picture.width = UInt32(clamping: format.width)
    picture.height = UInt32(clamping: format.height)
    let code = unsafe sora_v4l2_set_picture(fd, capability.type, &picture)
    if code != 0 { throw CameraError(DriverFailure(code), setting: format, path) }
    let layout = PictureLayout(picture)
    guard layout.pixelFormat == format.pixelFormat else {
      throw .formatRefused(wanted: "\(format)", given: "\(layout)")
    }
    let wanted = FrameIntervals.Fraction(framesPerSecond: framesPerSecond ?? 30)
    var interval = sora_v4l2_fraction(
      numerator: wanted.numerator, denominator: wanted.denominator)
    try Self.check(
      unsafe sora_v4l2_set_interval(fd, capability.type, &interval), "setting the frame rate", path)
    return (layout, FrameIntervals.Fraction(interval).rate)
  }

  func makeBuffers(_ count: Int) throws(CameraError) -> [CaptureBuffer] {
    var made = UInt32(clamping: count)
    try Self.check(
      unsafe sora_v4l2_make_buffers(fd, capability.type, &made), "making buffers", path)
    guard made > 0 else {
      throw .system(operation: "making buffers", path: path, code: ENOMEM)
    }
    var buffers: [CaptureBuffer] = []
    for index in 0..<min(made, Self.mostBuffers) {
      var memory = sora_v4l2_memory()
      try Self.check(
        unsafe sora_v4l2_map(fd, capability.type, index, &memory), "mapping buffers", path)
      buffers.append(CaptureBuffer(mapped: memory))
    }
    return buffers
  }

  func queue(_ index: Int, planes: Int) -> Int32 {
    sora_v4l2_queue(fd, capability.type, UInt32(index), UInt32(planes))
  }

  func dequeue(planes: Int) -> Dequeued {
    var filled = sora_v4l2_filled()
    switch unsafe sora_v4l2_dequeue(fd, capability.type, UInt32(planes), &filled) {
    case 0: return .filled(FilledBuffer(filled))
    case EAGAIN: return .none
    case ENODEV: return .gone
    case let code: return .failed(code)
    }
  }

  func stream(_ isOn: Bool) throws(CameraError) {
    try Self.check(
      sora_v4l2_stream(fd, capability.type, isOn ? 1 : 0), isOn ? "starting" : "stopping",
      path)
    guard !isOn else { return }
    // Memory of pictures that are held keeps the device's file open. Without its buffers it is nobody's, and can be started anew; the
    // pictures stay readable (V4L2_BUF_CAP_SUPPORTS_ORPHANED_BUFS). Older kernels refuse.
    var none: UInt32 = 0
    _ = unsafe sora_v4l2_make_buffers(fd, capability.type, &none)
  }

  func wait(until deadline: Instant) -> CaptureWait {
    timer.set(noLaterThan: deadline)
    var came: Int32 = 0
    let code = unsafe sora_v4l2_wait(fd, timer.fd, &came)
    return CaptureWait(
      isReady: came & Int32(SORA_V4L2_READY) != 0,
      isWoken: came & Int32(SORA_V4L2_TIMED) != 0 && timer.expired(),
      isGone: code != 0 || came & Int32(SORA_V4L2_GONE) != 0)
  }

  func wake() { timer.wake() }

  func export(_ index: Int, plane: Int) throws(CameraError) -> Int32 {
    var descriptor: Int32 = -1
    try Self.check(
      unsafe sora_v4l2_export(
        fd, capability.type, UInt32(index), UInt32(plane), &descriptor), "exporting memory", path)
    return descriptor
  }

  func close() {
    let isFirst = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return !isClosed
    }
    guard isFirst else { return }
    sora_v4l2_close(fd)
  }

  // MARK: Errors

  private static func check(_ code: Int32) throws(DriverFailure) {
    if code != 0 { throw DriverFailure(code) }
  }

  private static func check(
    _ code: Int32, _ operation: String, _ path: String
  ) throws(CameraError) {
    if code != 0 { throw CameraError(DriverFailure(code), operation, path) }
  }
}

extension CameraError {
  /// What a driver refused, in an operation.
  package init(_ failure: DriverFailure, _ operation: String, _ path: String) {
    switch failure.code {
    case ENOENT, ENXIO: self = .noDevice(path: path)
    case EACCES, EPERM: self = .noPermission(path: path)
    case EBUSY: self = .busy(path: path)
    // USB cameras only: when the pictures are to flow, not when the format is set.
    case ENOSPC: self = .noBandwidth(path: path)
    case ENOTTY: self = .notACamera(path: path)
    case ENODEV: self = .unplugged(path: path)
    default: self = .system(operation: operation, path: path, code: failure.code)
    }
  }

  /// Why a format isn't given. Drivers should offer another one, but some say that it is invalid.
  package init(_ failure: DriverFailure, setting format: CameraFormat, _ path: String) {
    self =
      failure.code == EINVAL
      ? .formatRefused(wanted: "\(format)", given: "an error (\(Self.text(of: EINVAL)))")
      : CameraError(failure, "setting the format", path)
  }

  static func text(of code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
