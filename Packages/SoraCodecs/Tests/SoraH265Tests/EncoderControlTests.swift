import CodecTestSupport
import SoraAVCodec
import SoraCodecs
import SoraMedia
import SoraNAL
import SoraWire
import SoraX265
import Testing

@Suite struct EncoderControlTests {
  @Test func everyKeyFrameBringsItsParameterSets() throws {
    let encoder = try x265.encoder(160, 120)
    for index in 0..<6 {
      let encoded = try #require(
        try encoder.encode(
          Pictures.frame(160, 120, index: index), forceKeyFrame: index % 2 == 0, rtpTimestamp: 0))
      var types: [UInt8] = []
      var units = AnnexBUnits(encoded.payload.span)
      while let unit = units.nextUnit() {
        let header = H265NALUnitHeader(unit)
        types.append(try #require(header).type.rawValue)
      }
      #expect(types == (index % 2 == 0 ? [32, 33, 34, 20] : [1]))
    }
  }

  @Test func formatsThatCannotBeAreRefusedByName() {
    let error = x265.refusedSetting
    #expect(error { $0.height = 15 } == "size")
    #expect(error { $0.formatParameters = ["profile-id": "2"] } == "profile-id")
    #expect(error { $0.formatParameters = ["level-id": "x"] } == "formatParameters")
    #expect(error { $0.formatParameters = ["profile-id": "1"] } == "none")
  }

  @Test(arguments: -1...2) func everySpeedMakesAStreamThatDecodes(_ speed: Int) throws {
    var qualities: [Double] = []
    // At level 5 and above blocks must be larger than the fastest speed would have them.
    for parameters in [[:], ["level-id": "150"]] {
      let encoder = try x265.encoder(
        VideoEncoderSettings(width: 320, height: 180, speed: speed, formatParameters: parameters))
      let decoder = try x265.decoder()
      for index in 0..<8 {
        let encoded = try #require(
          try encoder.encode(
            Pictures.frame(320, 180, index: index), forceKeyFrame: false, rtpTimestamp: 0))
        #expect(encoded.isKeyFrame == (index == 0))
        let picture = try #require(try decoder.decode(encoded))
        qualities.append(x265.psnr(picture, 320, 180, index: index))
      }
    }
    #expect(qualities.allSatisfy { $0 > 30 }, "\(qualities)")
  }

  @Test(
    arguments: [
      // Size, format parameters, and the level that the stream must say.
      (320, 180, [:], 93), (1280, 720, [:], 93), (1920, 1080, [:], 120),
      (320, 180, ["level-id": "60"], 60), (1280, 720, ["level-id": "120"], 120),
      (1280, 720, ["level-id": "60"], 93), (320, 180, ["level-id": "156", "tier-flag": "1"], 156),
    ] as [(Int, Int, [String: String], UInt8)])
  func theStreamSaysItsLevel(
    _ width: Int, _ height: Int, _ parameters: [String: String], _ level: UInt8
  ) throws {
    let encoder = try x265.encoder(
      VideoEncoderSettings(width: width, height: height, formatParameters: parameters))
    let encoded = try #require(
      try encoder.encode(
        Pictures.frame(width, height, index: 0), forceKeyFrame: false, rtpTimestamp: 0))
    var found: H265SequenceParameterSet?
    var units = AnnexBUnits(encoded.payload.span)
    while let unit = units.nextUnit() {
      guard H265NALUnitHeader(unit)?.type == .sequenceParameterSet else { continue }
      found = try H265SequenceParameterSet(unit)
    }
    let set = try #require(found)
    #expect(set.profileTierLevel.levelID == level && !set.profileTierLevel.isHighTier)
    #expect(set.profileTierLevel.profile == 1 && set.profileTierLevel.isMainCompatible)
    #expect(set.width == width && set.height == height && set.maximumReorderedPictures == 0)
  }
}
