import Foundation
import TestPrograms
import Testing

/// A program with a window, while it runs.
final class Client {
  private let process = Process()
  private let pipe = Pipe()
  private var text = ""

  init(
    program: String = "WindowClient", _ arguments: [String], _ environment: [String: String]
  ) throws {
    process.executableURL = TestPrograms.built(program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = FileHandle.standardError
    try process.run()
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  /// Reads until a line begins with `start`, and returns that; nil where the program ended before.
  func line(_ start: String) -> String? {
    while true {
      while let end = text.firstIndex(of: "\n") {
        let line = String(text[..<end])
        text = String(text[text.index(after: end)...])
        if line.hasPrefix(start) { return line }
      }
      let data = pipe.fileHandleForReading.availableData
      guard !data.isEmpty else { return nil }
      text += String(decoding: data, as: UTF8.self)
    }
  }

  var status: Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }
}

/// Windows on a virtual display, looked at as pictures.
@Suite(
  .timeLimit(.minutes(3)), .enabled(if: VirtualDisplay.isAvailable, "\(VirtualDisplay.reason)"))
struct WindowTests {
  private let red = [255, 0, 0]
  private let green = [0, 255, 0]
  private let blue = [0, 0, 255]
  private let white = [255, 255, 255]

  @Test func aWindowShowsItsTilesAndTellsWhatHappensToIt() throws {
    let display = try VirtualDisplay()
    let client = try Client(["show"], display.environment)
    #expect(client.line("open") != nil)
    // Cells of 318x178 with 4 pixels between them, in a window at (40, 30).
    let upright = [(70, 50), (320, 50), (70, 180), (320, 180)]
    let picture = try display.wait { $0.shows(red, at: 70, 50) && $0.shows(green, at: 70, 250) }
    for (place, color) in zip(upright, [red, green, blue, white]) {
      #expect(picture.shows(color, at: place.0, place.1), "\(place): \(picture[place.0, place.1])")
    }
    // On its side, a picture is narrow: background beside it.
    #expect(picture.shows([60, 60, 60], at: 380, 120))
    let turned = [(500, 60), (540, 60), (500, 180), (540, 180)]
    for (place, color) in zip(turned, [blue, red, white, green]) {
      #expect(picture.shows(color, at: place.0, place.1), "\(place): \(picture[place.0, place.1])")
    }
    // Upside down, with a mark around it.
    #expect(picture.shows([0x2E, 0xCC, 0x71], at: 41, 300))
    let upsideDown = [(70, 230), (320, 230), (70, 370), (320, 370)]
    for (place, color) in zip(upsideDown, [white, blue, green, red]) {
      #expect(picture.shows(color, at: place.0, place.1), "\(place): \(picture[place.0, place.1])")
    }
    // Distorted, it fills its cell.
    #expect(picture.shows(green, at: 370, 220) && picture.shows(blue, at: 672, 382))
    // Between the tiles, and outside of the window.
    #expect(picture.shows([60, 60, 60], at: 360, 100))
    #expect(picture.shows([0, 0, 0], at: 20, 100) && picture.shows([0, 0, 0], at: 400, 400))

    try display.resizeWindow(700, 500)
    #expect(client.line("resized") == "resized 700x500")
    let larger = try display.wait { $0.shows([60, 60, 60], at: 730, 50) }
    #expect(larger.shows([60, 60, 60], at: 730, 50))
    try display.closeWindow()
    #expect(client.line("close") == "close")
    try display.press("i")
    #expect(client.line("key") == "key i")
    try display.press("Escape")
    #expect(client.line("key") == "key escape")
    try display.press("q")
    #expect(client.line("closed") == "closed")
    #expect(client.status == 0)
  }

  /// SDL has one setting for the colours of all textures, which each of its ways to draw reads at another time.
  @Test(arguments: ["software", "opengl", "opengles2"])
  func eachTileHasTheColorsOfItsSpace(_ renderer: String) throws {
    let display = try VirtualDisplay()
    let client = try Client(
      ["colors"], display.environment.merging(["SDL_RENDER_DRIVER": renderer]) { $1 })
    let colors = try (0..<4).map { _ in
      try #require(client.line("color")).split(separator: " ").compactMap { Int($0) }
    }
    let places = [(160, 90), (480, 90), (160, 270), (480, 270)]
    let picture = try display.wait { picture in
      zip(places, colors).allSatisfy { picture.shows($1, at: $0.0, $0.1) }
    }
    for (place, color) in zip(places, colors) {
      #expect(
        picture.shows(color, at: place.0, place.1), "\(color): \(picture[place.0, place.1])")
    }
    try display.press("q")
    #expect(client.status == 0)
  }

  /// Xlib would end the process.
  @Test func theProgramOutlivesItsDisplay() throws {
    let display = try VirtualDisplay()
    let client = try Client(["show"], display.environment)
    #expect(client.line("open") != nil)
    _ = try display.wait { $0.shows(red, at: 70, 50) }
    display.stop()
    #expect(client.line("lost") == "lost")
    #expect(client.line("closed") == "closed")
    #expect(client.status == 0)
  }

  /// A figure for people, and no limit: the virtual display has no graphics card.
  @Test func threeStreamsAreDrawn() throws {
    let display = try VirtualDisplay(width: 1_920, height: 1_080)
    let client = try Client(["throughput"], display.environment)
    let line = try #require(client.line("three"))
    print(line)
    #expect(client.status == 0)
  }

  @Test func withoutADisplayThereIsOneError() throws {
    let client = try Client(
      ["show"],
      ["DISPLAY": ":9999", "WAYLAND_DISPLAY": "nowhere", "SDL_VIDEODRIVER": "x11"])
    let line = try #require(client.line("error"))
    #expect(line.hasPrefix("error no display ("), "\(line)")
    #expect(client.status == 1)
  }

  /// A library that shows nothing costs nothing.
  @Test func withoutAViewNothingOfSDLIsLoaded() throws {
    let client = try Client(["maps"], [:])
    #expect(client.line("before")?.hasSuffix("[]") == true)
    #expect(client.line("made")?.hasSuffix("[]") == true)
    #expect(client.line("after")?.contains("libSDL2-2.0") == true)
    #expect(client.status == 0)
  }
}
