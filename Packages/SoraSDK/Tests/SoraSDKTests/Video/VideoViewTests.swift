import Foundation
import SoraSDK
import Testing

/// Whether SDL2 can be loaded here.
private let hasSDL = dlopen("libSDL2-2.0.so.0", RTLD_LAZY) != nil

/// Views in memory.
@Suite(.timeLimit(.minutes(5)), .enabled(if: hasSDL, "needs Debian's libsdl2-2.0-0"))
struct VideoViewTests {
  private static let white: [UInt8] = [255, 255, 255]
  private static let black: [UInt8] = [0, 0, 0]

  private func view() -> VideoView {
    VideoView(frame: CGRect(x: 0, y: 0, width: 64, height: 36), place: .memory)
  }

  /// A frame of one shade of grey.
  private func frame(_ luma: UInt8 = 235, width: Int = 64) -> VideoFrame {
    VideoFrame(
      from: PixelBuffer(width: width, height: 36) { planes in
        for (index, plane) in planes.enumerated() {
          for y in 0..<plane.height {
            for x in 0..<plane.width { plane.row(y)[x] = index == 0 ? luma : 128 }
          }
        }
      })
  }

  private func middle(_ view: VideoView) throws -> [UInt8] { try view.image()[32, 18] }

  @Test func framesAreShownWhileItRenders() throws {
    let view = view()
    #expect(!view.isRendering && view.connectionMode == .autoClear)
    #expect(view.contentMode == .scaleAspectFit && view.currentVideoFrameSize == nil)
    view.render(videoFrame: frame())
    #expect(try middle(view) == Self.black)
    view.start()
    #expect(view.isRendering)
    view.onChange(size: CGSize(width: 64, height: 36))
    view.render(videoFrame: frame())
    view.render(videoFrame: nil)
    #expect(try middle(view) == Self.white)
    #expect(view.currentVideoFrameSize == CGSize(width: 64, height: 36))
    // Not while it renders.
    view.clear()
    #expect(try middle(view) == Self.white)
    view.stop()
    view.render(videoFrame: frame(16))
    #expect(try middle(view) == Self.white)
    view.clear()
    #expect(try middle(view) == Self.black)
    #expect(view.statistics.framesShown == 1)
  }

  @Test func theBackgroundIsAColorOrAPicture() throws {
    let view = view()
    view.backgroundView = .color(ViewColor(red: 1, green: 2, blue: 200))
    #expect(try middle(view) == [1, 2, 200])
    view.backgroundView = .picture(frame().buffer)
    #expect(try middle(view) == Self.white)
    view.backgroundView = nil
    #expect(try middle(view) == Self.black)
  }

  /// What a stream's beginning, its ends and its switches do in each mode: is it rendering, is the last frame there.
  @Test(
    arguments: [
      (VideoViewConnectionMode.auto, true, true), (.autoClear, true, false),
      (.manual, false, false),
    ])
  func connectionModes(_ mode: VideoViewConnectionMode, starts: Bool, keeps: Bool) throws {
    let stream = FakeStream()
    let ends: [@Sendable (VideoView) -> Void] = [
      { $0.onRemoved(from: stream) }, { $0.onDisconnect(from: nil) },
      { $0.onSwitch(video: false) }, { $0.onSwitch(video: true) },
    ]
    for end in ends {
      let view = view()
      view.connectionMode = mode
      view.onAdded(from: stream)
      #expect(view.isRendering == starts)
      if mode == .manual { view.start() }
      view.render(videoFrame: frame())
      #expect(try middle(view) == Self.white)
      view.onSwitch(audio: false)
      #expect(view.isRendering)
      end(view)
      #expect(view.isRendering == (mode == .manual))
      #expect(try middle(view) == (keeps || mode == .manual ? Self.white : Self.black))
    }
  }

  @Test func debugModeWritesOverThePicture() throws {
    let view = VideoView(frame: CGRect(x: 0, y: 0, width: 320, height: 180), place: .memory)
    view.start()
    view.render(videoFrame: frame(110))
    let plain = try view.image()
    #expect(!view.debugMode)
    view.debugMode = true
    let debug = try view.image()
    #expect(view.debugMode)
    if view.window?.textProblem == nil { #expect(debug != plain) }
    view.debugMode = false
    #expect(try view.image() == plain)
  }

  @Test func severalViewsShareAWindow() throws {
    let window = try VideoWindow(.init(width: 128, height: 36, tileSpacing: 0), place: .memory)
    defer { window.close() }
    let left = VideoView(in: window)
    var right: VideoView? = VideoView(in: window)
    left.start()
    right?.start()
    right?.isMirrored = true
    left.render(videoFrame: frame())
    right?.render(videoFrame: frame(16))
    var image = try window.image()
    #expect(image[32, 18] == Self.white && image[96, 18] == Self.black)
    #expect(left.window === window)
    right = nil
    #expect(window.tiles.count == 1)
    left.contentMode = .scaleToFill
    image = try window.image()
    #expect(image[126, 18] == Self.white)
  }

  @Test func aClosedViewOpensAgain() throws {
    let view = view()
    view.start()
    view.render(videoFrame: frame())
    #expect(try middle(view) == Self.white)
    let first = view.window
    view.close()
    #expect(!view.isRendering)
    view.start()
    view.render(videoFrame: frame(16))
    #expect(try middle(view) == Self.black)
    #expect(view.window !== first || first?.isClosed == false)
  }

  @Test func aViewThatCannotOpenSaysWhy() {
    let view = VideoView(frame: CGRect(x: 0, y: 0, width: 1e9, height: 36), place: .memory)
    #expect(throws: ViewError.badSize(width: 1_000_000, height: 36)) { try view.image() }
    #expect(view.windowError == .badSize(width: 1_000_000, height: 36))
    // The call goes on.
    view.start()
    view.render(videoFrame: frame())
  }

  /// The iOS documentation's first use of a view, without the parts that are UIKit's.
  @Test func theSampleOfTheDocumentationCompiles() {
    let videoView = view()
    let stream: any MediaStream = FakeStream()
    stream.videoRenderer = videoView
    videoView.connectionMode = .manual
    videoView.start()
    videoView.debugMode = true
    videoView.stop()
    videoView.clear()
    stream.videoRenderer = nil
  }
}
