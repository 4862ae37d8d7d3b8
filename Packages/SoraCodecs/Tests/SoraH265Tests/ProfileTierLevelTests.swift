import SoraCodecs
import SoraH265
import SoraNAL
import Testing

@Suite struct ProfileTierLevelTests {
  @Test(arguments: [
    // Size, rate, bitrate, and the level of tables A.8 and A.9.
    (64, 64, 30, 100_000, 30), (64, 64, 30, 200_000, 60), (176, 144, 15, 0, 30),
    (352, 288, 30, 1_500_000, 60), (640, 360, 30, 0, 63), (960, 540, 30, 0, 90),
    (1280, 720, 30, 2_000_000, 93), (1280, 720, 30, 11_000_000, 120), (1280, 720, 60, 0, 120),
    (1920, 1080, 30, 0, 120), (1920, 1080, 60, 0, 123), (3840, 2160, 30, 0, 150),
    (3840, 2160, 60, 0, 153), (4096, 2160, 60, 50_000_000, 156), (8192, 4320, 30, 0, 180),
    (8192, 4320, 120, 0, 186), (2800, 64, 1, 0, 93), (8000, 16, 1, 0, 150),
  ])
  func theLowestLevelIsFound(
    _ width: Int, _ height: Int, _ rate: Double, _ bits: Int, _ level: UInt8
  ) {
    #expect(
      H265ProfileTierLevel.levelID(
        width: width, height: height, framesPerSecond: rate, bitsPerSecond: bits) == level)
  }

  @Test func whatNoLevelHoldsHasNone() {
    #expect(H265ProfileTierLevel.levelID(width: 0, height: 64, framesPerSecond: 30) == nil)
    #expect(H265ProfileTierLevel.levelID(width: 17_000, height: 64, framesPerSecond: 30) == nil)
    #expect(H265ProfileTierLevel.levelID(width: 8192, height: 4320, framesPerSecond: 240) == nil)
    #expect(
      H265ProfileTierLevel.levelID(width: .max, height: .max, framesPerSecond: .infinity) == nil)
  }

  @Test func theHighTierHasMoreBits() {
    func level(_ high: Bool) -> UInt8? {
      H265ProfileTierLevel.levelID(
        width: 1920, height: 1080, framesPerSecond: 30, bitsPerSecond: 30_000_000,
        isHighTier: high)
    }
    #expect(level(false) == 153)
    #expect(level(true) == 120)
  }

  @Test func formatParametersHaveTheDefaultsOfRFC7798() throws {
    let none = try #require(H265ProfileTierLevel(formatParameters: [:]))
    #expect(none.profileSpace == 0 && none.profile == 1 && !none.isHighTier)
    #expect(none.levelID == 93 && none.constraints == 0xB000_0000_0000)
    #expect(none.isMainCompatible)
    let some = try #require(
      H265ProfileTierLevel(formatParameters: [
        "profile-id": "2", "tier-flag": "1", "level-id": "186",
        "interop-constraints": "900000000000",
      ]))
    #expect(some.profile == 2 && some.isHighTier && some.levelID == 186)
    #expect(some.constraints == 0x9000_0000_0000 && !some.isMainCompatible)
    #expect(some.limits?.levelID == 186)
    let again = try #require(H265ProfileTierLevel(formatParameters: some.formatParameters))
    #expect(again.profile == 2 && again.isHighTier && again.levelID == 186)
  }

  @Test(arguments: [
    ["level-id": "256"], ["level-id": "-1"], ["level-id": ""], ["profile-id": "32"],
    ["tier-flag": "2"], ["profile-space": "4"], ["interop-constraints": "B0"],
    ["interop-constraints": "xyzxyzxyzxyz"], ["profile-compatibility-indicator": "600000000"],
  ])
  func whatIsNoParameterIsRefused(_ parameters: [String: String]) {
    #expect(H265ProfileTierLevel(formatParameters: parameters) == nil)
  }
}

@Suite struct CapabilityTests {
  @Test func theFactoriesNameWhatTheyMake() throws {
    let registry = VideoCodecRegistry(H265Codec.factories)
    #expect(registry.encodableKinds == [.h265] && registry.decodableKinds == [.h265])
    #expect(
      registry.capabilities.map(\.implementation) == ["libx265", "libavcodec", "libde265"])
    for capability in registry.capabilities { #expect(capability.profiles == ["1"]) }
    #expect(try registry.makeDecoder(.h265).implementationName.hasPrefix("libavcodec "))
    #expect(
      try registry.makeDecoder(.h265, implementation: "libde265").implementationName.hasPrefix(
        "libde265 1."))
    let settings = VideoEncoderSettings(width: 64, height: 64)
    #expect(
      try registry.makeEncoder(.h265, settings: settings).implementationName.hasPrefix("libx265 "))
  }
}
