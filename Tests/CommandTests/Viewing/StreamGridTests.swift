import Foundation
import SoraClock
import SoraCommandSupport
import SoraMedia
import SoraView
import Testing

@Suite struct SpeakerMarkTests {
  @Test func whoIsLoudSpeaksAndForAMomentAfterThat() {
    var mark = SpeakerMark()
    let start = Instant(nanoseconds: 1_000_000_000)
    mark.hear("a", levelDb: -20, at: start)
    mark.hear("b", levelDb: -60, at: start)
    mark.hear("c", levelDb: nil, at: start)
    #expect(
      mark.speaks("a", at: start) && !mark.speaks("b", at: start) && !mark.speaks("c", at: start))
    // Between two words.
    mark.hear("a", levelDb: -70, at: start + .milliseconds(300))
    #expect(mark.speaks("a", at: start + .milliseconds(500)))
    #expect(!mark.speaks("a", at: start + .milliseconds(700)))
    mark.hear("a", levelDb: -20, at: start + .seconds(1))
    mark.remove("a")
    #expect(!mark.speaks("a", at: start + .seconds(1)))
  }
}

@Suite(.enabled(if: dlopen("libSDL2-2.0.so.0", RTLD_LAZY) != nil, "needs Debian's libsdl2-2.0-0"))
struct StreamGridTests {
  private let green: [UInt8] = [0x2E, 0xCC, 0x71]

  private func frame(_ luma: UInt8) -> RawVideoFrame {
    RawVideoFrame(
      buffer: PixelBuffer(width: 64, height: 36) { planes in
        for (index, plane) in planes.enumerated() {
          for y in 0..<plane.height {
            for x in 0..<plane.width { plane.row(y)[x] = index == 0 ? luma : 128 }
          }
        }
      }, timestamp: .zero)
  }

  @Test func streamsComeSpeakAndGo() throws {
    let grid = try StreamGrid(title: "test", place: .memory) {}
    defer { grid.close() }
    grid.add("LEFT")
    grid.add("RIGHT")
    grid.add("RIGHT")
    grid.show(frame(235), of: "LEFT")
    grid.show(frame(100), of: "RIGHT")
    grid.show(frame(100), of: "NOBODY")
    var image = try grid.image()
    #expect(image[320, 360] == [255, 255, 255] && image[960, 360][0] < 120)
    #expect(image[1, 360] != green)
    grid.hear("LEFT", levelDb: -10, at: SystemClock.now)
    image = try grid.image()
    #expect(image[1, 360] == green && image[1_278, 360] != green)
    grid.hear("LEFT", levelDb: nil, at: SystemClock.now + .seconds(2))
    #expect(try grid.image()[1, 360] != green)
    grid.remove("LEFT")
    #expect(try grid.image()[320, 360][0] < 120)
  }

  @Test func statisticsAreSeenWhenTheyAreAskedFor() throws {
    let grid = try StreamGrid(title: "test", place: .memory) {}
    defer { grid.close() }
    grid.add("A")
    grid.show(frame(110), of: "A")
    grid.tell("A", statistics: ["64x36 30.0 fps"])
    let plain = try grid.image()
    try #require(grid.textProblem == nil, "needs Debian's libsdl2-ttf-2.0-0 and fonts-dejavu-core")
    grid.press("i") {}
    let told = try grid.image()
    #expect(told != plain)
    grid.press("i") {}
    #expect(try grid.image() == plain)
    grid.name("A", "Ada")
    #expect(try grid.image() != plain)
  }

  @Test func keysEndIt() throws {
    let grid = try StreamGrid(title: "test", place: .memory) {}
    defer { grid.close() }
    var ends = 0
    for key in ["x", "q", "escape", "i"] { grid.press(key) { ends += 1 } }
    #expect(ends == 2)
  }
}
