import SoraCamera
import SoraMedia
import Testing

/// Colours by V4L2's enums, as videodev2.h numbers them and fills in what a driver leaves open.
@Suite struct V4L2ColorTests {
  private func space(
    _ colorspace: UInt32, _ encoding: UInt32 = 0, _ quantization: UInt32 = 0
  ) -> VideoColorSpace? {
    VideoColorSpace(
      v4l2Colorspace: colorspace, encoding: encoding, quantization: quantization)
  }

  @Test func whatIsLeftOpenIsFilledIn() {
    let (limited, full) = (
      VideoColorSpace(matrix: .bt601, isFullRange: false),
      VideoColorSpace(matrix: .bt601, isFullRange: true)
    )
    // Nothing, SMPTE 170M, sRGB: most cameras.
    for colorspace in [0, 1, 8] as [UInt32] { #expect(space(colorspace) == limited) }
    #expect(space(7) == full, "JPEG")
    #expect(space(7, 0, 2) == limited)
    #expect(space(3) == VideoColorSpace(matrix: .bt709, isFullRange: false))
    #expect(space(3, 1) == limited)
    #expect(space(8, 2, 1) == VideoColorSpace(matrix: .bt709, isFullRange: true))
    #expect(space(10) == nil && space(2) == nil && space(8, 6) == nil && space(8, 99) == nil)
    #expect(space(99) == limited, "unknown")
  }

  /// What is converted has the converter's colours, and says so; what is encoded says it itself.
  @Test(arguments: [
    "NV12", "YUYV", "VUYA", "Y444", "RGB3", "XR24", "RGBP", "RGB1", "HSV3", "GREY", "BA81", "MJPG",
    "H264",
  ])
  func onlySamplesThatStayHaveTheDriversColors(format: String) throws {
    let space = VideoColorSpace(matrix: .bt709, isFullRange: true)
    let layout = PictureLayout(
      pixelFormat: try #require(CameraPixelFormat(format)), width: 64, height: 32, strides: [192],
      colorSpace: space)
    let limited = VideoColorSpace(matrix: .bt601, isFullRange: false)
    switch format {
    case "NV12", "YUYV", "VUYA", "Y444": #expect(layout.colorSpace == space)
    case "H264": #expect(layout.colorSpace == nil)
    default: #expect(layout.colorSpace == limited)
    }
  }
}
