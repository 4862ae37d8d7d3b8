import SoraMedia
import Testing

@Suite struct PixelRectangleTests {
  private let frame = PixelRectangle(x: 10, y: 20, width: 640, height: 360)

  @Test func theMiddleOfAPictureHasTheProportionsAskedFor() {
    let wide = PixelBuffer(width: 640, height: 360) { _ in }
    #expect(PixelRectangle(of: wide) == PixelRectangle(x: 0, y: 0, width: 640, height: 360))
    #expect(
      PixelRectangle(of: wide, withAspect: 4, 3)
        == PixelRectangle(x: 80, y: 0, width: 480, height: 360))
    #expect(
      PixelRectangle(of: wide, withAspect: 2, 1)
        == PixelRectangle(x: 0, y: 20, width: 640, height: 320))
  }

  @Test func aShapeFitsInTheMiddle() {
    #expect(
      frame.fitting(width: 1, height: 1)
        == PixelRectangle(x: 150, y: 20, width: 360, height: 360))
    #expect(
      frame.fitting(width: 4, height: 1)
        == PixelRectangle(x: 10, y: 120, width: 640, height: 160))
    #expect(frame.fitting(width: 16, height: 9) == frame)
    // Nothing is thinner than a pixel.
    #expect(frame.fitting(width: 100_000, height: 1).height == 1)
  }

  @Test func whatTwoHaveInCommon() {
    let other = PixelRectangle(x: 600, y: 0, width: 100, height: 30)
    #expect(
      frame.intersection(other) == PixelRectangle(x: 600, y: 20, width: 50, height: 10))
    #expect(frame.intersection(other) == other.intersection(frame))
    let apart = frame.intersection(PixelRectangle(x: 1_000, y: 1_000, width: 5, height: 5))
    #expect(apart.width == 0 && apart.height == 0)
  }

  @Test func itIsWrittenAsX11DoesIt() {
    #expect(frame.description == "640x360+10+20")
    #expect(PixelRectangle(x: -5, y: 0, width: 1, height: 1).description == "1x1+-5+0")
  }
}
