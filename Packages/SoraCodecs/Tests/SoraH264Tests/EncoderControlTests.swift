import CodecTestSupport
import SoraCodecs
import SoraMedia
import SoraNAL
import Testing

@Suite struct EncoderControlTests {
  @Test(arguments: Encoding.allCases)
  func formatsThatCannotBeAreRefusedByName(_ encoding: Encoding) {
    let error = encoding.codec.refusedSetting
    // 4:2:0 has no picture of one column.
    #expect(error { $0.width = 1 } == "size")
    #expect(error { $0.formatParameters["profile-level-id"] = "42" } == "profile-level-id")
    #expect(error { $0.formatParameters["profile-level-id"] = "f4001f" } == "profile-level-id")
    #expect(error { $0.formatParameters["packetization-mode"] = "2" } == "packetization-mode")
    #expect(
      error {
        $0.formatParameters["packetization-mode"] = "0"
        $0.maximumPayloadBytes = 50
      } == "maximumPayloadBytes")
  }

  @Test(arguments: Encoding.allCases)
  func aSizeThatCannotBeIsRefusedWithEachFrame(_ encoding: Encoding) throws {
    let encoder = try encoding.make(VideoEncoderSettings(width: 64, height: 64))
    let (width, height) = encoding.takes(PictureSize(8, 8)) ? (1, 8) : (8, 8)
    for index in 0..<3 {
      #expect(throws: CodecError.self) {
        try encoder.encode(
          Pictures.frame(width, height, index: index), forceKeyFrame: false, rtpTimestamp: 0)
      }
    }
    let frame = try encoder.encode(
      Pictures.frame(64, 64, index: 3), forceKeyFrame: false, rtpTimestamp: 0)
    #expect(frame?.isKeyFrame == true)
  }
}
