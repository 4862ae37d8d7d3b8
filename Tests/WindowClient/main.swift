// A program with windows, for the tests that look at them:
//
//     WindowClient show       quarters of colour in four tiles, in a window of 640x360 at (40, 30); prints what happens to it; ends with `q`
//     WindowClient colors     one picture in four tiles, as if it were of each colour space; prints what colours these are
//     WindowClient throughput three streams of 1080p, as fast as they can be drawn; prints how fast that was
//     WindowClient send URL CODEC  publishes with `SoraSDK` alone, until it is killed; prints which libraries that are loaded when they are
//                             used are there
//     WindowClient receive URL     plays likewise, until it has seen ten frames
//     WindowClient maps       prints which of SDL's libraries are loaded before there is a view, and after
import Foundation
import SoraCapture
import SoraClock
import SoraMedia
import SoraSDK
import SoraView
import Synchronization

do {
  switch CommandLine.arguments.dropFirst().first {
  case "show": try await show()
  case "colors": try await colors()
  case "throughput": try throughput()
  case "maps": try maps()
  case "send": try await send(to: CommandLine.arguments[2], CommandLine.arguments[3])
  case "receive": try await receive(from: CommandLine.arguments[2])
  default: exit(2)
  }
} catch {
  say("error \(error)")
  exit(1)
}

/// Writes a line at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Red and green above, blue and white below.
func quarters(_ width: Int, _ height: Int, _ format: PixelFormat) -> PixelBuffer {
  let colors: [[UInt8]] = [[81, 90, 240], [145, 54, 34], [41, 240, 110], [235, 128, 128]]
  return PixelBuffer(width: width, height: height, format: format) { planes in
    for (index, plane) in planes.enumerated() {
      for y in 0..<plane.height {
        for x in 0..<plane.width {
          let quarter = (y < plane.height / 2 ? 0 : 2) + (x < plane.width / 2 ? 0 : 1)
          let sample = index == 0 ? 0 : format == .nv12 ? 1 + x % 2 : index
          plane.row(y)[x] = colors[quarter][sample]
        }
      }
    }
  }
}

func show() async throws {
  let (events, continuation) = AsyncStream.makeStream(of: VideoWindow.Event.self)
  let window = try VideoWindow(
    .init(
      title: "quarters", width: 640, height: 360, position: .init(x: 40, y: 30),
      background: ViewColor(red: 60, green: 60, blue: 60), tileSpacing: 4)
  ) { continuation.yield($0) }
  let formats: [(PixelFormat, VideoRotation)] = [
    (.i420, .none), (.nv12, .clockwise90), (.i420, .clockwise180), (.nv12, .clockwise270),
  ]
  for (number, (format, rotation)) in formats.enumerated() {
    let tile = window.addTile(
      .init(scaling: number == 3 ? .fill : .aspectFit, isMarked: number == 2))
    tile.show(
      RawVideoFrame(
        buffer: quarters(320, 180, format), timestamp: SystemClock.now, rotation: rotation))
  }
  say("open")
  for await event in events {
    switch event {
    case .closeRequested: say("close")
    case .displayLost: say("lost")
    case .resized(let width, let height): say("resized \(width)x\(height)")
    case .key(let name): say("key \(name)")
    }
    if event == .key("q") || event == .displayLost { break }
  }
  window.close()
  say("closed")
}

func colors() async throws {
  let (events, continuation) = AsyncStream.makeStream(of: VideoWindow.Event.self)
  let window = try VideoWindow(
    .init(width: 640, height: 360, position: .init(x: 0, y: 0), tileSpacing: 0)
  ) { continuation.yield($0) }
  let buffer = PixelBuffer(width: 64, height: 36) { planes in
    for (plane, sample) in zip(planes, [63, 102, 220] as [UInt8]) {
      for y in 0..<plane.height {
        for x in 0..<plane.width { plane.row(y)[x] = sample }
      }
    }
  }
  for matrix in [VideoColorSpace.Matrix.bt601, .bt709] {
    for isFullRange in [false, true] {
      let space = VideoColorSpace(matrix: matrix, isFullRange: isFullRange)
      window.addTile().show(
        RawVideoFrame(buffer: buffer, timestamp: SystemClock.now, colorSpace: space))
      say(
        "color "
          + RGBImage(buffer, colorSpace: space)[32, 18].map(String.init).joined(separator: " "))
    }
  }
  for await event in events where event == .key("q") { break }
  window.close()
}

func throughput() throws {
  let window = try VideoWindow(.init(width: 1_920, height: 1_080))
  let pattern = TestPattern(width: 1_920, height: 1_080)
  let pictures = (0..<4 as Range<UInt32>).map { pattern.frame(index: $0, milliseconds: 0) }
  let tiles = (0..<3).map { _ in window.addTile() }
  let start = SystemClock.now
  var used = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &used)
  let before = used
  var turn = 0
  while SystemClock.now - start < .seconds(3) {
    for tile in tiles {
      tile.show(RawVideoFrame(buffer: pictures[turn % 4], timestamp: SystemClock.now))
    }
    turn += 1
    // 60 frames per second of each.
    usleep(16_667)
  }
  let seconds = (SystemClock.now - start).inMilliseconds / 1_000
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &used)
  let cpu =
    Double(used.ru_utime.tv_sec - before.ru_utime.tv_sec)
    + Double(used.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6
  let counts = tiles.map(\.statistics)
  let shown = counts.reduce(0) { $0 + $1.framesShown }
  let replaced = counts.reduce(0) { $0 + $1.framesReplaced }
  let late = counts.reduce(0) { $0 + $1.framesLate }
  say(
    "three 1080p streams of \(Int(Double(turn) / seconds)) fps in 1920x1080: drawn"
      + String(
        format: " %.1f times per second, %.2f s of processor per second;",
        Double(window.timesDrawn) / seconds, cpu / seconds)
      + " \(shown) frames shown, \(replaced) replaced, \(late) late")
  window.close()
}

func maps() throws {
  func loaded() throws -> [String] {
    let data = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps")).readToEnd()
    let text = String(decoding: data ?? Data(), as: UTF8.self)
    return ["libSDL2-2.0", "libSDL2_ttf"].filter(text.contains)
  }
  // What an app does that shows nothing.
  let configuration = Configuration(
    url: URL(string: "ws://127.0.0.1:1/signaling")!, channelId: "sora", role: .sendrecv)
  _ = Sora.shared
  say("before \(configuration.role) \(try loaded())")
  let view = VideoView(frame: CGRect(x: 0, y: 0, width: 64, height: 36), place: .memory)
  say("made \(try loaded())")
  view.debugMode = true
  view.start()
  _ = try view.image()
  say("after \(try loaded())")
}

/// Which of the libraries that an app needn't load are there.
func loadedLibraries() throws -> String {
  let names = [
    "libvpx", "libaom", "libdav1d", "libde265", "libopenh264", "libx264", "libx265", "libavcodec",
    "libavformat", "libSDL2", "libpulse", "libasound", "libwebrtc_audio_processing", "libxcb",
    "libX11", "libpipewire",
  ]
  let data = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps")).readToEnd()
  let text = String(decoding: data ?? Data(), as: UTF8.self)
  return names.filter { text.contains("/\($0)") }.joined(separator: " ")
}

/// Says so before a connection, with one, and after the first frames.
func send(to url: String, _ codec: String) async throws {
  say("start: \(try loadedLibraries())")
  var configuration = Configuration(
    url: try URL(string: url).unwrapped, channelId: "libraries", role: .sendonly)
  configuration.videoCodec = try VideoCodec(rawValue: codec).unwrapped
  configuration.cameraSettings.isEnabled = false
  let channel = try await Sora.shared.connect(configuration: configuration)
  say("connected: \(try loadedLibraries())")
  let pattern = TestPattern(width: 320, height: 180)
  for index in UInt32(0)... where channel.isAvailable {
    channel.senderStream?.send(
      videoFrame: VideoFrame(from: pattern.frame(index: index, milliseconds: 0)))
    if index == 10 { say("sent: \(try loadedLibraries())") }
    try await Task.sleep(for: .milliseconds(33))
  }
}

/// Likewise of who plays.
func receive(from url: String) async throws {
  /// Counts the frames that would be shown.
  final class Counter: VideoRenderer {
    private let count = Mutex(0)

    var frames: Int { count.withLock { $0 } }

    func render(videoFrame: VideoFrame?) { count.withLock { $0 += 1 } }
  }

  say("start: \(try loadedLibraries())")
  let counter = Counter()
  let configuration = Configuration(
    url: try URL(string: url).unwrapped, channelId: "libraries", role: .recvonly)
  configuration.mediaChannelHandlers.onAddStream = { $0.videoRenderer = counter }
  let channel = try await Sora.shared.connect(configuration: configuration)
  while counter.frames < 10 { try await Task.sleep(for: .milliseconds(10)) }
  say("seen: \(try loadedLibraries())")
  await channel.disconnect()
}

extension Optional {
  /// - Throws: where there is nothing.
  fileprivate var unwrapped: Wrapped {
    get throws {
      guard let self else { throw CocoaError(.formatting) }
      return self
    }
  }
}
