import Foundation
import SoraCapture
import SoraMedia
import SoraView
import TestPrograms
import Testing

/// `sora play --view`, on a virtual display.
@Suite(.timeLimit(.minutes(2))) struct ViewTests {
  /// Runs `sora` beside the test.
  private func start(
    _ arguments: [String], output: Pipe? = nil, environment: [String: String] = [:]
  ) throws -> Process {
    let process = Process()
    process.executableURL = try Run.command()
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output ?? FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// A server, and the URL of its signaling.
  private func serve() throws -> (Process, url: String) {
    let told = Pipe()
    let server = try start(["serve", "--port", "0"], output: told)
    var text = ""
    while !text.contains("--channel") {
      let data = told.fileHandleForReading.availableData
      guard !data.isEmpty else {
        end(server)
        throw NotReady(text: text)
      }
      text += String(decoding: data, as: UTF8.self)
    }
    return (server, String(text.split(separator: "\n")[0].drop { $0 != "w" }))
  }

  private struct NotReady: Error {
    let text: String
  }

  private func end(_ process: Process) {
    if process.isRunning { process.interrupt() }
    process.waitUntilExit()
  }

  @Test(.enabled(if: VirtualDisplay.isAvailable, "\(VirtualDisplay.reason)"))
  func aChannelIsSeenInAWindow() throws {
    let (server, url) = try serve()
    defer { end(server) }
    let publisher = try start([
      "publish", url, "--channel", "view", "--resolution", "320x180", "--fps", "15",
      "--video-codec", "vp8",
    ])
    defer { end(publisher) }

    let display = try VirtualDisplay(width: 1_280, height: 720)
    let film = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).y4m")
    defer { try? FileManager.default.removeItem(at: film) }
    let summary = Pipe()
    let player = try start(
      ["play", url, "--channel", "view", "--view", "--record", film.path, "--json"],
      output: summary, environment: display.environment)
    defer { end(player) }

    // The stamp's blocks of black and white, and the pattern's greys.
    let seen = try display.wait { $0[640, 360].max() ?? 0 > 30 }
    #expect(seen[640, 360].max() ?? 0 > 30)
    let plain = whitePixels(seen)
    // The tone is loud enough to count as speech.
    let marked = try display.wait { $0.shows([0x2E, 0xCC, 0x71], at: 1, 360) }
    #expect(marked.shows([0x2E, 0xCC, 0x71], at: 1, 360))
    // Below the stamp, where nothing of the pattern is white.
    try display.press("i")
    let overlaid = try display.wait { whitePixels($0) > plain + 50 }
    #expect(whitePixels(overlaid) > plain + 50)
    if let folder = ProcessInfo.processInfo.environment["SORA_VIEW_PICTURES"] {
      try overlaid.write(to: folder + "/play.ppm")
    }
    try display.press("q")
    let lines = String(
      decoding: summary.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self
    ).split(separator: "\n")
    player.waitUntilExit()
    #expect(player.terminationStatus == 0)
    #expect(lines.last?.contains("\"type\":\"summary\"") == true)
    #expect(try Data(contentsOf: film).starts(with: Data("YUV4MPEG2".utf8)))
  }

  /// Each publisher has a tile of the window's; when one leaves, the other has it all.
  @Test(.enabled(if: VirtualDisplay.isAvailable, "\(VirtualDisplay.reason)"))
  func twoPublishersShareAWindow() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (server, url) = try serve()
    defer { end(server) }
    /// Shows a picture of one colour: Y, U and V.
    func publish(_ name: String, _ color: [UInt8]) throws -> Process {
      let (width, height) = (320, 180)
      let frame =
        Data("FRAME\n".utf8) + Data(repeating: color[0], count: width * height)
        + Data(repeating: color[1], count: width * height / 4)
        + Data(repeating: color[2], count: width * height / 4)
      let film = folder.appendingPathComponent("\(name).y4m")
      let head = Data("YUV4MPEG2 W\(width) H\(height) F10:1 C420\n".utf8)
      try (0..<10).reduce(head) { film, _ in film + frame }.write(to: film)
      return try start([
        "publish", url, "--channel", "grid", "--video", film.path, "--audio", "none",
        "--video-codec", "vp8",
      ])
    }
    let red = try publish("red", [82, 90, 240])
    defer { end(red) }
    let blue = try publish("blue", [41, 240, 110])
    defer { end(blue) }
    let display = try VirtualDisplay(width: 1_280, height: 720)
    let player = try start(
      ["play", url, "--channel", "grid", "--view"], environment: display.environment)
    defer { end(player) }

    let both = try display.wait { seen in
      let tiles = [tile(seen, ofColor: 0), tile(seen, ofColor: 2)]
      return tiles.allSatisfy { $0?.width ?? 0 > 200 }
    }
    let first = try #require(tile(both, ofColor: 0))
    let second = try #require(tile(both, ofColor: 2))
    #expect(abs(first.width - second.width) <= 4 && abs(first.height - second.height) <= 4)
    #expect(
      first.right <= second.left || second.right <= first.left || first.bottom <= second.top
        || second.bottom <= first.top)
    for tile in [first, second] {
      // The films' shape, 16:9.
      #expect(abs(Double(tile.width) / Double(tile.height) - 16.0 / 9) < 0.1, "\(tile)")
    }
    if let folder = ProcessInfo.processInfo.environment["SORA_VIEW_PICTURES"] {
      try both.write(to: folder + "/grid.ppm")
    }
    end(blue)
    let alone = try display.wait { seen in
      tile(seen, ofColor: 2) == nil && tile(seen, ofColor: 0)?.width ?? 0 > first.width
    }
    #expect(tile(alone, ofColor: 2) == nil)
    #expect(tile(alone, ofColor: 0)?.width ?? 0 > first.width)
    try display.press("q")
    player.waitUntilExit()
    #expect(player.terminationStatus == 0)
  }

  private struct Tile {
    var left = Int.max
    var right = 0
    var top = Int.max
    var bottom = 0

    var width: Int { right - left }
    var height: Int { bottom - top }
  }

  /// What encloses all pixels in which one of red, green and blue is far above the others; nil where there are none.
  private func tile(_ picture: VirtualDisplay.Picture, ofColor index: Int) -> Tile? {
    var tile = Tile()
    for y in stride(from: 0, to: picture.height, by: 2) {
      for x in stride(from: 0, to: picture.width, by: 2) {
        let pixel = picture[x, y]
        let others = pixel.indices.filter { $0 != index }.map { pixel[$0] }
        guard pixel[index] > 180, others.allSatisfy({ $0 < 90 }) else { continue }
        tile.left = min(tile.left, x)
        tile.right = max(tile.right, x + 2)
        tile.top = min(tile.top, y)
        tile.bottom = max(tile.bottom, y + 2)
      }
    }
    return tile.width > 0 && tile.left < .max ? tile : nil
  }

  /// Where lines of statistics stand.
  private func whitePixels(_ picture: VirtualDisplay.Picture) -> Int {
    (70..<160).reduce(0) { sum, y in
      sum + (4..<200).count { x in picture[x, y].allSatisfy { $0 > 235 } }
    }
  }

  @Test(.enabled(if: VirtualDisplay.isAvailable, "\(VirtualDisplay.reason)"))
  func aScreenIsPublished() throws {
    let display = try VirtualDisplay(width: 320, height: 180)
    try display.fill(0, 0, 160, 180, [255, 0, 0])
    try display.fill(160, 0, 160, 180, [0, 0, 255])
    let listed = try Run(["devices", "--json"], environment: display.environment)
    #expect(
      listed.output.contains(
        #""height":180,"isPrimary":true,"name":"screen","type":"screen","width":320,"x":0,"y":0"#))
    let (server, url) = try serve()
    defer { end(server) }
    let publisher = try start(
      ["publish", url, "--channel", "s", "--video", "screen", "--audio", "none"],
      environment: display.environment)
    defer { end(publisher) }
    let film = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).y4m")
    defer { try? FileManager.default.removeItem(at: film) }
    let run = try Run([
      "play", url, "--channel", "s", "--duration", "4", "--record", film.path, "--audio", "none",
    ])
    #expect(run.status == 0, "\(run.errors)")
    let reader = try Y4MReader(path: film.path)
    var last: PixelBuffer?
    while let picture = try reader.next() { last = picture }
    let image = RGBImage(try #require(last))
    #expect(image.width == 320 && image.height == 180)
    for (x, color) in [(80, [255, 0, 0]), (240, [0, 0, 255])] {
      #expect(
        zip(image[x, 90], color).allSatisfy { abs(Int($0) - $1) < 20 }, "\(image[x, 90])")
    }
  }

  @Test func withoutADisplayNothingIsPublished() throws {
    let run = try Run(
      ["publish", "ws://127.0.0.1:1/signaling", "--channel", "c", "--video", "screen"],
      environment: ["DISPLAY": ":9999"])
    #expect(run.status == 2)
    #expect(run.errors.contains("--video screen: no display :9999"), "\(run.errors)")
  }

  /// What it does besides showing needs no display: this call ends because nobody answers.
  @Test func withoutADisplayItSaysSoAndGoesOn() throws {
    let run = try Run(
      ["play", "ws://127.0.0.1:1/signaling", "--channel", "c", "--view"],
      environment: ["DISPLAY": ":9999", "SDL_VIDEODRIVER": "x11"])
    #expect(run.status == 1)
    let lines = run.errors.split(separator: "\n")
    #expect(lines.count == 2, "\(run.errors)")
    #expect(lines.first?.hasPrefix("sora: --view: no ") == true, "\(run.errors)")
  }
}
