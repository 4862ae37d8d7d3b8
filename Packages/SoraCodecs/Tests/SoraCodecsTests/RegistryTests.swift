import SoraCodecs
import SoraVP8
import Testing

private struct BrokenFactory: VideoCodecFactory {
  static let failure = CodecError.library(
    name: "broken", operation: "start", code: 1, detail: "always")
  var capability: VideoCodecCapability {
    VideoCodecCapability(kind: .vp8, implementation: "broken", canEncode: true, canDecode: true)
  }
  func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  { throw Self.failure }
  func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  { throw Self.failure }
}

@Suite struct RegistryTests {
  private let settings = VideoEncoderSettings(width: 64, height: 64)

  @Test func fallsBackWhenTheFirstImplementationFails() throws {
    let registry = VideoCodecRegistry([BrokenFactory(), VP8CodecFactory()])
    #expect(try registry.makeEncoder(.vp8, settings: settings).kind == .vp8)
    #expect(try registry.makeDecoder(.vp8).implementationName.hasPrefix("libvpx"))
  }

  @Test func reportsTheMostPreferredFailure() {
    let registry = VideoCodecRegistry([BrokenFactory()])
    #expect(throws: BrokenFactory.failure) { _ = try registry.makeDecoder(.vp8) }
    #expect(throws: CodecError.noImplementation(kind: .av1, encoding: true)) {
      _ = try registry.makeEncoder(.av1, settings: settings)
    }
  }

  @Test func preferenceOrdersAndNames() throws {
    var registry = VideoCodecRegistry([VP8CodecFactory()])
    registry.register(BrokenFactory(), preferred: true)
    #expect(registry.capabilities.map(\.implementation) == ["broken", "libvpx"])
    #expect(registry.encodableKinds == [.vp8])
    let encoder = try registry.makeEncoder(.vp8, settings: settings, implementation: "libvpx")
    #expect(encoder.implementationName.hasPrefix("libvpx 1."))
  }

  @Test func scalabilityModesReadAndWriteTheirNames() {
    for name in ["L1T1", "L1T3", "L2T3_KEY", "L3T3", "S2T1", "S3T3"] {
      #expect(ScalabilityMode(name)?.description == name)
    }
    for name in ["", "L4T1", "L0T1", "S1T1", "L1T1_KEY", "S2T1_KEY", "l1t1", "L1X1", "L1T1 "] {
      #expect(ScalabilityMode(name) == nil)
    }
  }
}
