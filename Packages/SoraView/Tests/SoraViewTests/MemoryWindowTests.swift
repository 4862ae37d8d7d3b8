import Foundation
import SoraMedia
import SoraView
import Testing

/// Whether SDL2 can be loaded here.
private let hasSDL = dlopen("libSDL2-2.0.so.0", RTLD_LAZY) != nil
private let hasText = dlopen("libSDL2_ttf-2.0.so.0", RTLD_LAZY) != nil

/// Windows in memory: what a window shows, pixel by pixel, without a display.
@Suite(.enabled(if: hasSDL, "needs Debian's libsdl2-2.0-0"))
struct MemoryWindowTests {
  /// A window with one tile, and what it shows.
  private func image(
    _ width: Int, _ height: Int, _ frame: RawVideoFrame?,
    _ appearance: VideoTile.Appearance = .init(), background: ViewColor = .black
  ) throws -> RGBImage {
    let window = try VideoWindow(
      .init(width: width, height: height, background: background), place: .memory)
    defer { window.close() }
    let tile = window.addTile(appearance)
    if let frame { tile.show(frame) }
    let image = try window.image()
    #expect(image.width == width && image.height == height)
    #expect(tile.statistics.framesFailed == 0, "\(tile.statistics)")
    return image
  }

  /// Bars of colour in each space, against the conversion of `RGBImage`, which has the formulas of H.273.
  @Test(
    arguments: PixelFormat.allCases,
    [
      VideoColorSpace.bt601, .bt709, .init(matrix: .bt601, isFullRange: true),
      .init(matrix: .bt709, isFullRange: true),
    ])
  func colorsAreThoseOfTheirSpace(_ format: PixelFormat, _ space: VideoColorSpace) throws {
    let bars: [(UInt8, UInt8, UInt8)] = [
      (16, 128, 128), (235, 128, 128), (126, 128, 128), (81, 90, 240), (145, 54, 34),
      (41, 240, 110), (180, 100, 140), (63, 102, 220),
    ]
    let buffer = picture(128, 32, format) { x, _ in bars[x / 16] }
    let shown = try image(128, 32, frame(buffer, colorSpace: space))
    let expected = RGBImage(buffer, colorSpace: space)
    for bar in 0..<8 {
      let (a, b) = (shown[bar * 16 + 8, 16], expected[bar * 16 + 8, 16])
      #expect(isClose(a, b), "\(bars[bar]): \(a), not \(b)")
    }
  }

  /// The spaces differ by more than the tolerance above, or that test would say nothing.
  @Test func spacesDiffer() {
    let buffer = solid(16, 16, 63, 102, 220)
    let colors = [
      VideoColorSpace.bt601, .bt709, .init(matrix: .bt601, isFullRange: true),
      .init(matrix: .bt709, isFullRange: true),
    ].map { RGBImage(buffer, colorSpace: $0)[8, 8] }
    for (index, color) in colors.enumerated() {
      #expect(!colors[..<index].contains { isClose($0, color, within: 9) })
    }
  }

  /// Two tiles of different spaces in one window, several times: SDL's setting is the whole process's.
  @Test func eachTileHasItsOwnColors() throws {
    let window = try VideoWindow(.init(width: 128, height: 36, tileSpacing: 0), place: .memory)
    defer { window.close() }
    let spaces = [VideoColorSpace.bt601, .bt709]
    let buffer = solid(64, 36, 63, 102, 220)
    let tiles = spaces.map { _ in window.addTile() }
    for _ in 0..<3 {
      for (tile, space) in zip(tiles, spaces) { tile.show(frame(buffer, colorSpace: space)) }
      let image = try window.image()
      for (index, space) in spaces.enumerated() {
        #expect(
          isClose(image[index * 64 + 32, 18], RGBImage(buffer, colorSpace: space)[8, 8]))
      }
    }
  }

  /// The colours of the four quarters, as they are seen from the upper left on.
  private static let turned: [(VideoRotation, Bool, [[UInt8]])] = [
    (.none, false, [red, green, blue, white]), (.clockwise90, false, [blue, red, white, green]),
    (.clockwise180, false, [white, blue, green, red]),
    (.clockwise270, false, [green, white, red, blue]),
    (.none, true, [green, red, white, blue]), (.clockwise90, true, [red, blue, green, white]),
    (.clockwise180, true, [blue, white, red, green]),
    (.clockwise270, true, [white, green, blue, red]),
  ]

  @Test(arguments: PixelFormat.allCases)
  func framesAreTurnedAndMirrored(_ format: PixelFormat) throws {
    for (rotation, isMirrored, expected) in Self.turned {
      // As large as they are, larger and smaller; of odd sizes, too.
      for (width, height) in [(64, 48), (33, 17), (400, 300)] {
        let image = try image(
          160, 120, frame(quarters(width, height, format), rotation: rotation),
          .init(scaling: .fill, isMirrored: isMirrored))
        let seen = [image[20, 15], image[140, 15], image[20, 105], image[140, 105]]
        #expect(
          zip(seen, expected).allSatisfy { isClose($0, $1) },
          "\(rotation) mirrored \(isMirrored) \(width)x\(height): \(seen)")
      }
    }
  }

  @Test func shapesAreKept() throws {
    let wide = frame(solid(160, 40, 235, 128, 128))
    let background = ViewColor(red: 10, green: 20, blue: 200)
    let fit = try image(80, 80, wide, .init(scaling: .aspectFit), background: background)
    // 80x20 in the middle of 80x80.
    #expect(isClose(fit[40, 28], [10, 20, 200]) && isClose(fit[40, 51], [10, 20, 200]))
    #expect(isClose(fit[1, 31], white) && isClose(fit[78, 48], white))
    let fill = try image(80, 80, wide, .init(scaling: .aspectFill), background: background)
    #expect(isClose(fill[1, 1], white) && isClose(fill[78, 78], white))
    // On its side it is high.
    let turned = try image(
      80, 80, frame(solid(160, 40, 235, 128, 128), rotation: .clockwise90),
      .init(scaling: .aspectFit), background: background)
    #expect(isClose(turned[28, 40], [10, 20, 200]) && isClose(turned[40, 2], white))
    // What is cut off is cut off on both sides: of four bars the outer ones.
    let bars: [UInt8] = [16, 180, 235, 16]
    let middle = try image(
      80, 80, frame(picture(160, 40) { x, _ in (bars[x / 40], 128, 128) }),
      .init(scaling: .aspectFill))
    #expect(middle[20, 40][0] > 180 && middle[60, 40][0] > 250)
  }

  @Test func theGridShowsEachTileInItsCell() throws {
    let window = try VideoWindow(
      .init(
        width: 322, height: 180, background: ViewColor(red: 60, green: 60, blue: 60)),
      place: .memory)
    defer { window.close() }
    let colors: [(UInt8, UInt8, UInt8)] = [(81, 90, 240), (145, 54, 34), (41, 240, 110)]
    for (y, u, v) in colors { window.addTile().show(frame(solid(160, 90, y, u, v))) }
    let image = try window.image()
    #expect(isClose(image[80, 45], red) && isClose(image[242, 45], green))
    #expect(isClose(image[161, 137], blue))
    // Between them and beside the last.
    #expect(image[160, 45] == [60, 60, 60] && image[40, 137] == [60, 60, 60])
    window.remove(window.tiles[0])
    let left = try window.image()
    #expect(isClose(left[80, 90], green) && isClose(left[242, 90], blue))
  }

  @Test func aClearedTileShowsItsBackground() throws {
    let window = try VideoWindow(.init(width: 64, height: 36), place: .memory)
    defer { window.close() }
    let tile = window.addTile(.init(background: ViewColor(red: 0, green: 90, blue: 0)))
    tile.show(frame(solid(64, 36, 235, 128, 128)))
    #expect(isClose(try window.image()[32, 18], white))
    tile.clear()
    #expect(try window.image()[32, 18] == [0, 90, 0])
    tile.update { $0.stillPicture = solid(64, 36, 81, 90, 240) }
    #expect(isClose(try window.image()[32, 18], red))
    tile.show(frame(solid(64, 36, 41, 240, 110)))
    #expect(isClose(try window.image()[32, 18], blue))
  }

  @Test func aMarkSurroundsWhoSpeaks() throws {
    let image = try image(160, 90, frame(solid(160, 90, 235, 128, 128)), .init(isMarked: true))
    for (x, y) in [(1, 45), (158, 45), (80, 1), (80, 88)] {
      #expect(image[x, y] == [0x2E, 0xCC, 0x71])
    }
    #expect(isClose(image[80, 45], white))
  }

  @Test(.enabled(if: hasText, "needs Debian's libsdl2-ttf-2.0-0"))
  func namesAndOverlaysAreWritten() throws {
    let window = try VideoWindow(.init(width: 640, height: 360), place: .memory)
    defer { window.close() }
    let tile = window.addTile(.init(name: "Ada Lovelace", overlay: ["1280x720", "30 fps"]))
    tile.show(frame(solid(640, 360, 110, 128, 128)))
    let image = try window.image()
    #expect(window.textProblem == nil)
    func whitePixels(_ columns: Range<Int>, _ rows: Range<Int>) -> Int {
      rows.reduce(0) { sum, y in sum + columns.count { image[$0, y][0] > 230 } }
    }
    #expect(whitePixels(0..<200, 335..<360) > 50)
    #expect(whitePixels(0..<200, 0..<40) > 50)
    // Nothing is written elsewhere, and the picture is shaded behind the words alone.
    #expect(whitePixels(0..<640, 60..<320) == 0)
    #expect(image[600, 350][0] < 60 && image[600, 10][0] > 50)
    if let folder = ProcessInfo.processInfo.environment["SORA_VIEW_PICTURES"] {
      try PNGWriter.write(image, to: folder + "/text.png")
    }
  }

  @Test func withoutAFontThereIsNoTextAndTheReasonIsTold() throws {
    let window = try VideoWindow(
      .init(width: 64, height: 36, fontPath: "/nowhere/font.ttf"), place: .memory)
    defer { window.close() }
    let tile = window.addTile(.init(name: "Ada"))
    tile.show(frame(solid(64, 36, 235, 128, 128)))
    #expect(isClose(try window.image()[32, 34], white))
    let problem = try #require(window.textProblem)
    #expect(problem.contains("font") || problem.contains("ttf"), "\(problem)")
  }

  @Test func closedWindowsAndImpossibleSizesAreTyped() throws {
    let window = try VideoWindow(.init(width: 64, height: 36), place: .memory)
    let tile = window.addTile()
    window.close()
    window.close()
    #expect(window.isClosed)
    tile.show(frame(solid(64, 36, 235, 128, 128)))
    #expect(throws: ViewError.closed) { try window.image() }
    #expect(throws: ViewError.badSize(width: 0, height: 36)) {
      try VideoWindow(.init(width: 0, height: 36), place: .memory)
    }
  }

  /// Many threads, one after the other or at once: a sanitizer's food.
  @Test func tilesTakeFramesFromAnyThread() async throws {
    let window = try VideoWindow(.init(width: 64, height: 36), place: .memory)
    defer { window.close() }
    let picture = solid(32, 18, 100, 128, 128)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          let tile = window.addTile(.init(name: "\(number)"))
          for _ in 0..<50 { tile.show(frame(picture)) }
          if number == 1 { window.remove(tile) }
          _ = try? window.image()
        }
      }
    }
    let received = window.tiles.map(\.statistics.framesReceived)
    #expect(received == [50, 50, 50])
    for tile in window.tiles {
      let counts = tile.statistics
      #expect(counts.framesShown + counts.framesReplaced <= 50)
    }
  }
}
