import SoraMedia
import SoraView
import Synchronization
import Testing

/// Windows on a display that a test plays, in time that a test gives.
@Suite struct RenderLoopTests {
  private let driver = StandInDriver()
  private let loop: RenderLoop

  init() { loop = RenderLoop(driver: driver) }

  private final class Told: Sendable {
    let events = Mutex<[VideoWindow.Event]>([])
    let wakes = Mutex(0)
  }
  private let told = Told()

  private func open(
    _ settings: VideoWindow.Settings = .init(width: 640, height: 360, tileSpacing: 0)
  ) throws -> (ViewScene, StandInCanvas) {
    let told = told
    let scene = ViewScene(
      settings, wake: { told.wakes.withLock { $0 += 1 } },
      tell: { event in told.events.withLock { $0.append(event) } })
    try loop.open(scene, .display).get()
    return (scene, try #require(driver.canvases.last))
  }

  /// One pass of the thread at a time in milliseconds; returns when the next is due, likewise.
  @discardableResult
  private func turn(_ milliseconds: Double) -> Double? {
    let now = Instant(nanoseconds: Int64(milliseconds * 1e6))
    return loop.turn { now }.map { Double($0.nanoseconds) / 1e6 }
  }

  @Test func theNewestFrameIsShownAndTheOthersAreCounted() throws {
    let (scene, canvas) = try open()
    let tile = scene.addTile(.init())
    let pictures = (0..<3).map { solid(64, 36, UInt8(50 * $0), 128, 128) }
    for picture in pictures { tile.show(frame(picture)) }
    turn(1_000)
    #expect(canvas.uploads.map(\.picture) == [ObjectIdentifier(pictures[2])])
    #expect(canvas.calls.last == .present)
    #expect(tile.statistics.framesReceived == 3 && tile.statistics.framesShown == 1)
    #expect(tile.statistics.framesReplaced == 2)
  }

  @Test func aWindowIsDrawnNoMoreOftenThanItsDisplay() throws {
    let (scene, canvas) = try open()
    let tile = scene.addTile(.init())
    let picture = solid(64, 36, 16, 128, 128)
    // Three streams' worth of frames, 180 per second, for a second.
    for step in 0..<180 {
      tile.show(frame(picture))
      turn(1_000 + Double(step) * 1_000 / 180)
    }
    #expect((58...64).contains(canvas.uploads.count), "\(canvas.uploads.count)")
    // What waits is drawn when it is due, and not before.
    let before = scene.timesDrawn
    tile.show(frame(picture))
    let due = try #require(turn(2_001))
    #expect(due > 2_001 && due <= 2_001 + 16.7)
    #expect(scene.timesDrawn == before || due == 2_011)
    turn(due)
    #expect(canvas.uploads.last?.picture == ObjectIdentifier(picture))
  }

  @Test func nothingNewIsNotDrawn() throws {
    let (scene, canvas) = try open()
    scene.addTile(.init()).show(frame(solid(64, 36, 16, 128, 128)))
    turn(0)
    #expect(scene.timesDrawn == 1)
    canvas.calls = []
    for time in stride(from: 100.0, to: 1_000, by: 10) { turn(time) }
    #expect(canvas.calls.isEmpty)
  }

  @Test func framesOfOneSizeShareATexture() throws {
    let (scene, canvas) = try open()
    let tile = scene.addTile(.init())
    tile.show(frame(solid(64, 36, 16, 128, 128)))
    turn(0)
    tile.show(frame(solid(64, 36, 16, 128, 128), rotation: .clockwise90))
    turn(100)
    #expect(canvas.textures.map(\.number) == [1])
    tile.show(frame(solid(32, 36, 16, 128, 128)))
    turn(200)
    #expect(canvas.textures.map(\.number) == [2])
    tile.show(frame(solid(32, 36, 16, 128, 128), colorSpace: .bt709))
    turn(300)
    #expect(canvas.textures.map(\.number) == [3])
    scene.remove(tile)
    turn(400)
    #expect(canvas.textures.isEmpty)
  }

  @Test func aFrameThatCannotBeDrawnIsCountedWithItsReason() throws {
    let (scene, canvas) = try open()
    let tile = scene.addTile(.init())
    canvas.uploadFailure = .failed(operation: "copying", reason: "no memory")
    tile.show(frame(solid(64, 36, 16, 128, 128)))
    turn(0)
    #expect(tile.statistics.framesFailed == 1 && tile.statistics.framesShown == 0)
    #expect(tile.statistics.lastError == canvas.uploadFailure)
  }

  @Test func aTextureThatCannotBeFilledIsGivenBack() throws {
    let (scene, canvas) = try open()
    let tile = scene.addTile(.init())
    tile.show(frame(solid(64, 36, 16, 128, 128)))
    turn(0)
    canvas.uploadFailure = .failed(operation: "copying", reason: "no memory")
    for step in 1...3 {
      tile.show(frame(solid(32 * step + 1, 36, 16, 128, 128)))
      turn(Double(step) * 100)
    }
    // What was seen before is seen still.
    #expect(canvas.textures.map(\.number) == [1] && tile.statistics.framesFailed == 3)
    canvas.uploadFailure = nil
    tile.show(frame(solid(64, 36, 200, 128, 128)))
    turn(400)
    let filled = try #require(canvas.uploads.last?.texture)
    #expect(canvas.textures == [filled] && tile.statistics.framesShown == 2)
  }

  @Test func aStillPictureThatCannotBeDrawnTakesNothingFromFrames() throws {
    let (scene, canvas) = try open()
    canvas.longestSide = 100
    let tile = scene.addTile(.init(stillPicture: solid(200, 200, 100, 128, 128)))
    for step in 0..<3 {
      tile.show(frame(solid(64, 36, 16, 128, 128)))
      turn(Double(step) * 100)
    }
    #expect(canvas.uploads.count == 3 && canvas.textures.map(\.width) == [64])
    #expect(tile.statistics.framesShown == 3 && tile.statistics.framesFailed == 0)
    #expect(
      tile.statistics.lastError == .failed(operation: "making a texture", reason: "too large"))
    // One that can be drawn takes its place, and one that can't isn't drawn as what was there before.
    tile.clear()
    tile.update { $0.stillPicture = solid(16, 16, 100, 128, 128) }
    turn(400)
    #expect(canvas.textures.map(\.width) == [64, 16])
    tile.update { $0.stillPicture = solid(300, 300, 100, 128, 128) }
    turn(500)
    #expect(canvas.textures.map(\.width) == [64])
  }

  @Test func aHiddenWindowDrawsNothingUntilItIsSeen() throws {
    let (scene, canvas) = try open()
    let tile = scene.addTile(.init())
    driver.events = [.init(canvas: canvas.number, kind: .hidden)]
    let pictures = (0..<3).map { solid(64, 36, UInt8(50 * $0), 128, 128) }
    for (index, picture) in pictures.enumerated() {
      tile.show(frame(picture))
      turn(Double(index) * 100)
    }
    #expect(canvas.uploads.isEmpty && tile.statistics.framesHidden == 2)
    driver.events = [.init(canvas: canvas.number, kind: .shown)]
    turn(300)
    // The newest is seen then: of a picture that stands still no other comes.
    #expect(canvas.uploads.map(\.picture) == [ObjectIdentifier(pictures[2])])
    #expect(canvas.calls.last == .present)
    let counted = tile.statistics
    #expect(counted.framesShown == 1 && counted.framesHidden == 2)
    #expect(counted.framesReplaced == 0 && counted.framesLate == 0)
  }

  @Test func whatHappensToAWindowIsTold() throws {
    let (scene, canvas) = try open()
    let (_, other) = try open()
    canvas.size = (800, 600)
    driver.events = [
      .init(canvas: canvas.number, kind: .resized), .init(canvas: canvas.number, kind: .key("q")),
      .init(canvas: canvas.number, kind: .close), .init(canvas: 99, kind: .close),
    ]
    turn(0)
    #expect(
      told.events.withLock { $0 } == [
        .resized(width: 800, height: 600), .key("q"), .closeRequested,
      ])
    #expect(scene.size == (800, 600))
    loop.close(scene)
    #expect(canvas.isClosed && scene.isClosed && !other.isClosed)
    #expect(throws: ViewError.closed) { try loop.image(of: scene).get() }
  }

  @Test func oneWindowWaitsForTheDisplay() throws {
    let (first, one) = try open()
    let (_, two) = try open()
    #expect(one.waits && !two.waits)
    loop.close(first)
    #expect(two.waits)
  }

  @Test func withoutADisplayOpeningFails() {
    driver.failure = .noDisplay(reason: "none")
    #expect(throws: ViewError.noDisplay(reason: "none")) { try open() }
    #expect(turn(0) == nil)
  }

  @Test func aDisplayThatGoesTakesItsWindowsAlong() throws {
    let (scene, canvas) = try open()
    turn(0)
    driver.isDisplayLost = true
    canvas.calls = []
    scene.add(VideoTile())
    #expect(turn(100) == nil)
    #expect(told.events.withLock { $0 } == [.displayLost])
    // What has gone isn't touched any more.
    #expect(scene.isClosed && canvas.calls.isEmpty && !canvas.isClosed)
    loop.close(scene)
    #expect(!canvas.isClosed)
  }

  @Test func tilesShowTheirNamesOverlaysAndMarks() throws {
    let (scene, canvas) = try open()
    let tile = scene.addTile(.init(name: "Ada\u{202E}\u{1B}", overlay: ["64x36", "30 fps"]))
    turn(0)
    // Of a name nothing is shown that changes what stands beside it.
    #expect(canvas.texts == ["64x36", "30 fps", "Ada"])
    #expect(canvas.textures.count == 3)
    tile.update { $0.overlay = [] }
    turn(100)
    #expect(canvas.texts.count == 3 && canvas.textures.count == 1)
    let unmarked = canvas.calls.count
    tile.update { $0.isMarked = true }
    turn(200)
    #expect(canvas.calls.count == unmarked + 4)
  }

  @Test func ofANameWithoutAnEndTheBeginningIsShown() throws {
    let (scene, canvas) = try open()
    // One character, as people see it.
    let endless = "a" + String(repeating: "\u{0301}", count: 50_000)
    let tile = scene.addTile(.init(name: endless, overlay: [endless]))
    turn(0)
    let text = try #require(canvas.texts.first)
    #expect(text.unicodeScalars.count <= 1_000 && text.unicodeScalars.first == "a")
    tile.update { $0.isMarked = true }
    turn(100)
    #expect(canvas.texts.count == 1)
  }

  @Test func theWindowWakesTheThreadOnceForManyFrames() throws {
    let (scene, _) = try open()
    let tile = scene.addTile(.init())
    turn(0)
    told.wakes.withLock { $0 = 0 }
    for _ in 0..<10 { tile.show(frame(solid(64, 36, 16, 128, 128))) }
    #expect(told.wakes.withLock { $0 } == 1)
  }

  @Test func aClearedTileShowsItsStillPicture() throws {
    let (scene, canvas) = try open()
    let still = solid(16, 16, 100, 128, 128)
    let tile = scene.addTile(.init(background: .white, stillPicture: still))
    tile.show(frame(solid(64, 36, 16, 128, 128)))
    turn(0)
    #expect(
      canvas.calls.contains {
        if case .draw(let texture, _) = $0 { texture.width == 64 } else { false }
      })
    tile.clear()
    turn(100)
    #expect(
      canvas.calls.contains {
        if case .draw(let texture, _) = $0 { texture.width == 16 } else { false }
      })
    tile.update { $0.stillPicture = nil }
    turn(200)
    #expect(canvas.calls.count == 3 && canvas.textures.map(\.width) == [64])
  }
}

extension ViewScene {
  fileprivate func addTile(_ appearance: VideoTile.Appearance) -> VideoTile {
    let tile = VideoTile(appearance)
    add(tile)
    return tile
  }
}

@Suite struct FramePacerTests {
  @Test func aRateThatIsNotKnownIsSixty() {
    #expect(FramePacer(framesPerSecond: 0).displayInterval == .nanoseconds(16_666_666))
    #expect(FramePacer(framesPerSecond: 50).displayInterval == .milliseconds(20))
  }
}
