import Foundation
import SoraCamera
import SoraCapture
import SoraClock
import SoraMedia
import Synchronization

/// The camera, its formats and what can be set on it.
func list(_ path: String) throws {
  let device = try CameraDevice(path: path)
  let formats = try device.formats()
  write([
    "type": "device", "name": device.name, "driver": device.driver, "bus": device.bus,
    "known": CameraDevice.all.map(\.path), "formats": formats.count,
    "fourccs": Array(Set(formats.map { "\($0.pixelFormat)" })).sorted(),
    "supported": Array(
      Set(formats.filter { $0.pixelFormat.isSupported }.map { "\($0.pixelFormat)" })
    ).sorted(),
    "sizes": Array(Set(formats.map { "\($0.width)x\($0.height)" })).sorted(),
    "rates": formats.first?.frameRateRanges.map(\.upperBound) ?? [],
    "controls": try device.controls().map(\.name),
  ])
}

/// A picture of the driver's colour bars in each format that it offers: the mean of Y, U and V in the middle of each of the eight bars; and
/// why formats are refused.
func captureEachFormat(_ path: String, seconds: Double) throws {
  let device = try CameraDevice(path: path)
  try set(device, "OSD Text Mode", 2)
  let offered = try device.formats().filter { $0.width == 320 && $0.height == 180 }
  write(["type": "offered", "formats": offered.map { "\($0.pixelFormat)" }])
  for format in offered {
    let queue = FrameQueue()
    let name = "\(format.pixelFormat)"
    do {
      let capture = try CameraCapture(
        device, format: format, framesPerSecond: 60, deliver: { queue.add($0) },
        notify: { queue.add($0) })
      defer { capture.stop() }
      guard let picture = try queue.next(seconds: seconds).picture else { continue }
      write([
        "type": "bars", "format": name, "width": picture.width, "height": picture.height,
        "bars": (0..<8).map { bar($0, of: picture) },
      ])
    } catch let error as CameraError {
      write(["type": "refused", "format": name, "error": "\(error)"])
    }
  }
}

private func bar(_ index: Int, of picture: PixelBuffer) -> [Int] {
  let x = (index * 2 + 1) * picture.width / 16
  let y = picture.height / 2
  let chroma = picture.plane(1)
  if picture.format == .nv12 {
    return [
      Int(picture.plane(0).row(y)[x]), Int(chroma.row(y / 2)[x / 2 * 2]),
      Int(chroma.row(y / 2)[x / 2 * 2 + 1]),
    ]
  }
  return [
    Int(picture.plane(0).row(y)[x]), Int(chroma.row(y / 2)[x / 2]),
    Int(picture.plane(2).row(y / 2)[x / 2]),
  ]
}

/// What is told of the samples' colours: as the driver starts, and of high definition.
func colors(_ path: String) throws {
  let device = try CameraDevice(path: path)
  for (name, value) in [("usual", nil), ("Rec. 709", 1)] as [(String, Int64?)] {
    if let value { try set(device, "Colorspace", value) }
    let running = try device.capture("NV12", width: 320, height: 180)
    defer { running.capture.stop() }
    let space = try running.queue.next().colorSpace
    write([
      "type": "colors", "of": name, "matrix": space.map { "\($0.matrix)" } ?? "none",
      "isFullRange": space?.isFullRange ?? false,
    ])
  }
}

/// How even the driver's times are.
func pace(_ path: String, frames: Int) throws {
  let running = try CameraDevice(path: path).capture(
    "YUYV", width: 640, height: 360, framesPerSecond: 25)
  defer { running.capture.stop() }
  var times: [Instant] = []
  var late: [Double] = []
  while times.count < frames {
    let frame = try running.queue.next()
    times.append(frame.timestamp)
    late.append((SystemClock.now - frame.timestamp).inMilliseconds)
  }
  let intervals = zip(times.dropFirst(), times).map { ($0 - $1).inMilliseconds }.sorted()
  write([
    "type": "pace", "asked": 25, "given": running.capture.framesPerSecond ?? 0,
    "p5": intervals[intervals.count / 20], "p50": intervals[intervals.count / 2],
    "p95": intervals[intervals.count * 19 / 20], "latenessP50": late.sorted()[late.count / 2],
    "rising": zip(times.dropFirst(), times).allSatisfy { $0 > $1 },
    "lost": running.capture.statistics.framesLost,
    "histogram": (0..<24).map { bucket in
      intervals.count { Int($0) / 5 == bucket || (bucket == 23 && $0 >= 120) }
    },
  ])
}

/// Stops and starts while a picture in the camera's memory is held.
func restart(_ path: String, times: Int) throws {
  var held: [CapturedFrame] = []
  for _ in 0..<times {
    let running = try CameraDevice(path: path).capture("NV12", width: 640, height: 360)
    held.append(try running.queue.next())
    running.capture.stop()
  }
  // Reads every sample.
  let sums = held.compactMap { frame -> Int? in
    guard let plane = frame.picture?.plane(0) else { return nil }
    return (0..<plane.height).reduce(0) { sum, y in
      plane.row(y).reduce(sum) { $0 &+ Int($1) }
    }
  }
  write(["type": "restart", "started": held.count, "sums": sums.count { $0 > 0 }])
}

/// Pictures of the stamped pattern: which they are, and how near to what was drawn.
func readStamps(_ path: String, frames: Int, format: String) throws {
  let running = try CameraDevice(path: path).capture(format, width: 320, height: 180)
  defer { running.capture.stop() }
  var indices: [Int] = []
  var psnr: [Double] = []
  var unreadable = 0
  for _ in 0..<frames {
    guard let picture = try running.queue.next().picture else { continue }
    guard let stamp = FrameStamp(reading: picture) else {
      unreadable += 1
      continue
    }
    let drawn = TestPattern(width: picture.width, height: picture.height).frame(
      index: stamp.index, milliseconds: stamp.milliseconds)
    indices.append(Int(stamp.index))
    if let quality = PictureQuality.psnr(drawn, picture) { psnr.append(quality) }
  }
  write([
    "type": "stamps", "format": "\(running.capture.format.pixelFormat)", "indices": indices,
    "unreadable": unreadable, "psnr": psnr.min() ?? 0,
    "broken": running.capture.statistics.framesBroken,
  ])
}

/// What a camera encoded itself.
func takeEncoded(_ path: String, frames: Int, format: String) throws {
  let running = try CameraDevice(path: path).capture(format, width: 320, height: 180)
  defer { running.capture.stop() }
  var (units, keyFrames, bytes) = (0, 0, 0)
  for _ in 0..<frames {
    guard case .encoded(let buffer, let isKeyFrame) = try running.queue.next().content else {
      continue
    }
    units += 1
    bytes += buffer.count
    keyFrames += isKeyFrame ? 1 : 0
  }
  write([
    "type": "encoded", "format": format, "units": units, "keyFrames": keyFrames, "bytes": bytes,
  ])
}

/// Starts and stops, changes the size and goes to another camera, again and again.
func startAgain(_ path: String, other: String?, times: Int) throws {
  let devices = try ([path] + (other.map { [$0] } ?? [])).map { try CameraDevice(path: $0) }
  let formats = try devices.map { device in
    try device.formats().filter {
      ["NV12", "YUYV"].contains("\($0.pixelFormat)") && $0.width <= 640
    }
  }
  let before = openFiles()
  var started = 0
  for turn in 0..<times {
    let device = devices[turn % devices.count]
    let choice = formats[turn % devices.count]
    let queue = FrameQueue()
    let capture = try CameraCapture(
      device, format: choice[turn % choice.count], framesPerSecond: 60,
      deliver: { queue.add($0) })
    // Some are stopped with a picture still held, some before the first.
    if turn % 3 != 0 {
      let frame = try queue.next()
      if turn % 3 == 1 { _ = frame }
      started += 1
    }
    capture.stop()
  }
  write([
    "type": "again", "times": times, "started": started, "files": openFiles() - before,
  ])
}

private func openFiles() -> Int {
  (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
}

/// Holds more pictures than a camera has buffers: they stay as they were, and more come.
func holdFrames(_ path: String) throws {
  let device = try CameraDevice(path: path)
  let running = try device.capture("NV12", width: 320, height: 180, framesPerSecond: 60)
  var held: [CapturedFrame] = []
  while held.count < 12 { held.append(try running.queue.next()) }
  var descriptor = -1
  if let memory = held.first?.deviceMemory { descriptor = Int(try memory.exportDescriptor()) }
  running.capture.stop()
  let sums = held.compactMap(\.picture).map { picture in
    picture.plane(0).row(picture.height / 2).reduce(0) { $0 + Int($1) }
  }
  var isRefused = false
  do { _ = try held.first?.deviceMemory?.exportDescriptor() } catch { isRefused = true }
  write([
    "type": "held", "frames": held.count, "sums": sums.filter { $0 > 0 }.count,
    "lent": held.filter { $0.deviceMemory != nil }.count, "exported": descriptor >= 0,
    "refusedAfterwards": isRefused, "copied": running.capture.statistics.framesCopied,
  ])
}

/// The driver takes its device away while it runs.
func unplug(_ path: String) throws {
  let device = try CameraDevice(path: path)
  let running = try device.capture("NV12", width: 320, height: 180)
  _ = try running.queue.next()
  let disconnect = try device.controls().first { $0.name == "Disconnect" }
  guard let disconnect else { throw CameraError.notACamera(path: path) }
  try device.set(disconnect, to: 1)
  let event = try running.queue.nextEvent()
  running.capture.stop()
  write(["type": "unplugged", "event": "\(event)"])
}

/// Waits until the camera is taken away.
func lose(_ path: String) throws {
  let running = try CameraDevice(path: path).capture("NV12", width: 320, height: 180)
  _ = try running.queue.next()
  write(["type": "running"])
  let event = try running.queue.nextEvent()
  running.capture.stop()
  write(["type": "lost", "event": "\(event)"])
}

/// Waits for a camera that stops giving pictures, and gives them again.
func stall(_ path: String) throws {
  let running = try CameraDevice(path: path).capture(width: 320, height: 180)
  defer { running.capture.stop() }
  _ = try running.queue.next()
  write(["type": "running"])
  write(["type": "event", "event": "\(try running.queue.nextEvent())"])
  write(["type": "event", "event": "\(try running.queue.nextEvent())"])
}

/// Sets what can be set, and what can't.
func controls(_ path: String) throws {
  let device = try CameraDevice(path: path)
  let controls = try device.controls()
  guard
    let brightness = controls.first(where: { $0.id == CameraControl.Standard.brightness.rawValue })
  else { throw CameraError.notACamera(path: path) }
  try device.set(brightness, to: brightness.range.upperBound)
  let value = try device.value(of: brightness)
  var refused = ""
  if let menu = controls.first(where: { $0.name == "OSD Text Mode" }) {
    do { try device.set(menu, to: 99) } catch { refused = "\(error)" }
  }
  try device.set(brightness, to: brightness.defaultValue)
  write([
    "type": "controls", "value": value, "most": brightness.range.upperBound, "refused": refused,
    "again": try device.value(of: brightness), "usual": brightness.defaultValue,
    "kinds": Dictionary(
      controls.map { ($0.name, kind(of: $0)) }, uniquingKeysWith: { first, _ in first }),
    "values": Dictionary(
      controls.map { ($0.name, (try? device.value(of: $0)).map { "\($0)" } ?? "none") },
      uniquingKeysWith: { first, _ in first }),
  ])
}

/// A control's kind without its items, and its flags.
private func kind(of control: CameraControl) -> String {
  let kind = "\(control.kind)".prefix { $0 != "(" }
  let flags = [
    (control.isReadOnly, "read-only"), (control.isInactive, "inactive"),
    (control.isVolatile, "volatile"), (control.isWriteOnly, "write-only"),
  ]
  return ([String(kind)] + flags.filter(\.0).map(\.1)).joined(separator: " ")
}

private func set(_ device: CameraDevice, _ name: String, _ value: Int64) throws {
  guard let control = try device.controls().first(where: { $0.name == name }) else { return }
  try device.set(control, to: value)
}

/// Says each change of the machine's cameras, until standard input ends.
func monitor() throws {
  let monitor = try CameraMonitor(queue: DispatchQueue(label: "monitor")) { cameras in
    write(["type": "cameras", "paths": cameras.map(\.path)])
  }
  write(["type": "watching", "paths": CameraDevice.all.map(\.path)])
  _ = FileHandle.standardInput.readDataToEndOfFile()
  withExtendedLifetime(monitor) {}
}

/// Takes pictures and forgets them, as the programs do whose cost is compared with this one's. It is the capture's thread alone that works.
func forget(_ path: String, format: String, frames: Int) throws {
  let device = try CameraDevice(path: path)
  guard
    let wanted = try device.formats().nearest(
      width: 640, height: 360, framesPerSecond: 25, codec: CameraPixelFormat(format))
  else { throw CameraError.formatRefused(wanted: format, given: "nothing like it") }
  let left = Mutex(frames)
  let done = DispatchSemaphore(value: 0)
  let capture = try CameraCapture(
    device, format: wanted, framesPerSecond: 25,
    deliver: { _ in
      left.withLock { left in
        left -= 1
        if left == 0 { done.signal() }
      }
    })
  done.wait()
  capture.stop()
}
