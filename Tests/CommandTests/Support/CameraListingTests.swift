import SoraCamera
import SoraCapture
import SoraCommandSupport
import SoraMedia
import Testing

@Suite struct CameraListingTests {
  private let device = CameraDevice(
    path: "/dev/video4", name: "Desk\u{1B}[31m", bus: "usb-1", driver: "uvcvideo")

  private func format(_ fourcc: String, _ width: Int, _ height: Int, _ rates: Double...) throws
    -> CameraFormat
  {
    CameraFormat(
      pixelFormat: try #require(CameraPixelFormat(fourcc)), width: width, height: height,
      frameRateRanges: rates.map { $0...$0 })
  }

  @Test func aLineForEachFormat() throws {
    let listing = CameraListing(
      device,
      formats: [
        try format("YUYV", 640, 480, 30, 15), try format("YUYV", 1280, 720, 29.97),
        try format("MJPG", 1920, 1080), try format("P010", 640, 480, 30),
      ],
      controls: [.init(name: "Zoom", value: 3, usual: 1, allowed: "1 to 9")], error: nil)
    let lines = listing.lines
    #expect(lines.count == 5)
    #expect(lines[0].hasPrefix("/dev/video4  Desk") && !lines[0].contains("\u{1B}"))
    #expect(lines[1] == "  YUYV  640x480@30 1280x720@29.97")
    #expect(lines[2] == "  MJPG  1920x1080")
    #expect(lines[3] == "  not usable here: P010")
    #expect(lines[4] == "  Zoom = 3  (1 to 9)")
    #expect(listing.jsonLine.contains(#""framesPerSecond":[15,30]"#))
  }

  @Test func whyThereAreNone() {
    let listing = CameraListing(
      device, formats: [], controls: nil, error: "\(CameraError.busy(path: "/dev/video4"))")
    #expect(listing.lines.last?.contains("is in use") == true)
  }

  /// A camera of HD pictures says BT.709: who receives them would show other colours.
  @Test(arguments: [VideoColorSpace.bt709, .bt601, nil])
  func publishedPicturesKeepTheirColours(_ colors: VideoColorSpace?) throws {
    let picture = TestPattern(width: 32, height: 32).frame(index: 0, milliseconds: 0)
    let time = Instant.zero + .seconds(1)
    let frame = CapturedFrame(content: .picture(picture), timestamp: time, colorSpace: colors)
    let published = PublishedPicture(frame, codec: nil, width: 32, height: 32)
    guard case .raw(let raw)? = published else {
      Issue.record("no picture")
      return
    }
    #expect(raw.statedColorSpace == colors)
    #expect(raw.timestamp == time)
  }
}
