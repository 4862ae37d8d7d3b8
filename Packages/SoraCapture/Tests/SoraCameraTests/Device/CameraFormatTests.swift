import SoraCamera
import Testing

@Suite struct CameraFormatTests {
  private func format(_ fourcc: String, _ width: Int, _ height: Int, _ rates: Double...) throws
    -> CameraFormat
  {
    CameraFormat(
      pixelFormat: try #require(CameraPixelFormat(fourcc)), width: width, height: height,
      frameRateRanges: rates.map { $0...$0 })
  }

  /// The iOS SDK's rule: the least sum of differences, and of these the first with the rate, or the first.
  @Test func theNearestSizeThenTheFrameRate() throws {
    let formats = [
      try format("YUYV", 640, 480, 30), try format("YUYV", 1280, 720, 10),
      try format("NV12", 1280, 720, 10), try format("MJPG", 1280, 720, 30, 60),
      try format("YUYV", 1920, 1080, 5),
    ]
    let nearest = formats.nearest(width: 1300, height: 700)
    #expect(nearest == formats[2], "what is lent costs least")
    #expect(formats.nearest(width: 1280, height: 720, framesPerSecond: 30) == formats[3])
    #expect(formats.nearest(width: 1280, height: 720, framesPerSecond: 59.97) == formats[3])
    #expect(formats.nearest(width: 1280, height: 720, framesPerSecond: 120) == formats[2])
    #expect(formats.nearest(width: 1, height: 1) == formats[0])
    #expect([CameraFormat]().nearest(width: 1, height: 1) == nil)
  }

  @Test func whatCantBeTakenIsNeverChosen() throws {
    let formats = [try format("H264", 640, 360, 30), try format("P010", 640, 360, 30)]
    #expect(formats.nearest(width: 640, height: 360) == nil)
    #expect(formats.nearest(width: 640, height: 360, codec: .h264) == formats[0])
    #expect(!formats[1].pixelFormat.isSupported && formats[0].pixelFormat.isVideoCodec)
  }

  @Test func fourCharacters() {
    #expect(CameraPixelFormat.yuyv.rawValue == 0x5659_5559, "V4L2_PIX_FMT_YUYV")
    #expect(CameraPixelFormat("MJPG") == .mjpeg)
    #expect(CameraPixelFormat("YUY") == nil && CameraPixelFormat("YUYVX") == nil)
    #expect(CameraPixelFormat("ÄÖ") == nil)
    #expect("\(CameraPixelFormat(rawValue: 0x0100_1B41))" == "A???", "no control characters")
  }

  @Test func ranges() {
    let format = CameraFormat(
      pixelFormat: .nv12, width: 8, height: 8, frameRateRanges: [1...15, 30...30])
    #expect(format.contains(7) && format.contains(29.97) && !format.contains(20))
    #expect(format.maximumFrameRate == 30)
    #expect(format.frameRate(upTo: 7) == 7 && format.frameRate(upTo: 20) == 30)
    let silent = CameraFormat(pixelFormat: .nv12, width: 8, height: 8)
    #expect(silent.frameRate(upTo: 20) == 20)
  }

  @Test func keyFramesOfCameras() {
    func holdsKeyFrame(_ format: CameraPixelFormat, _ headers: UInt8...) -> Bool {
      let unit: [UInt8] = headers.flatMap { header -> [UInt8] in [0, 0, 0, 1, header, 0x80] }
      return format.hasKeyFrame(unit.span.bytes)
    }
    #expect(holdsKeyFrame(.h264, 0x67, 0x68, 0x65))
    #expect(!holdsKeyFrame(.h264, 0x41))
    #expect(holdsKeyFrame(.h265, 0x40, 19 << 1))
    #expect(!holdsKeyFrame(.h265, 1 << 1))
    #expect(!holdsKeyFrame(.h264))
  }
}
