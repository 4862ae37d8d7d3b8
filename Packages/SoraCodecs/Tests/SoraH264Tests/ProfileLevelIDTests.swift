import SoraNAL
import Testing

@Suite struct ProfileLevelIDTests {
  /// RFC 6184 §8.1 table 5, with bits that may be either way both ways.
  @Test(arguments: [
    ("42e01f", H264Profile.constrainedBaseline), ("42401f", .constrainedBaseline),
    ("42c01f", .constrainedBaseline), ("4d801f", .constrainedBaseline),
    ("4de01f", .constrainedBaseline), ("58c01f", .constrainedBaseline), ("42001f", .baseline),
    ("42a01f", .baseline), ("58801f", .baseline), ("58a01f", .baseline), ("4d001f", .main),
    ("4d401f", .main), ("58001f", .extended), ("58201f", .extended), ("64001f", .high),
    ("640c1f", .constrainedHigh), ("6e001f", .high10), ("7a001f", .high422),
    ("f4001f", .high444Predictive), ("6e101f", .high10Intra), ("7a101f", .high422Intra),
    ("f4101f", .high444Intra), ("2c101f", .cavlc444Intra),
  ])
  func profilesAreThoseOfTheTable(_ text: String, _ profile: H264Profile) throws {
    let id = try #require(H264ProfileLevelID(text))
    #expect(id.profile == profile)
    #expect(id.level == .level3_1)
    #expect(H264ProfileLevelID(text.uppercased()) == id)
  }

  @Test func whatIsNoProfileLevelIDIsRefused() {
    for text in [
      "", "42e01", "42e01f0", "42e01g", "+2e01f", "-2e01f", "00001f", "42e000", "42e0ff", "64101f",
      "58401f", "4d201f", "42e009", "42011f", "４2e01f",
    ] {
      #expect(H264ProfileLevelID(text) == nil, "\(text)")
    }
  }

  @Test func everyPairReadsBackEqual() throws {
    for profile in H264Profile.allCases {
      for level in H264Level.allCases {
        let id = H264ProfileLevelID(profile: profile, level: level)
        #expect(H264ProfileLevelID(id.description) == id, "\(id)")
      }
    }
    #expect(
      H264ProfileLevelID(profile: .constrainedBaseline, level: .level3_1).description == "42e01f")
    #expect(H264ProfileLevelID(profile: .constrainedHigh, level: .level4).description == "640c28")
    #expect(H264ProfileLevelID.absent.description == "42000a")
  }

  /// Level 1b: constraint_set3_flag with level_idc 11 in the old profiles, level_idc 9 in the others (H.264 §A.3.1).
  @Test func level1bIsWrittenInTwoWays() {
    #expect(H264ProfileLevelID("42f00b")?.level == .level1b)
    #expect(H264ProfileLevelID("42e00b")?.level == .level1_1)
    #expect(H264ProfileLevelID("4d100b")?.level == .level1b)
    #expect(H264ProfileLevelID("640009")?.level == .level1b)
    #expect(
      H264ProfileLevelID(profile: .constrainedBaseline, level: .level1b).description == "42f00b")
    #expect(H264ProfileLevelID(profile: .high, level: .level1b).description == "640009")
    #expect(H264Level.level1 < .level1b && H264Level.level1b < .level1_1)
    #expect(H264Level.allCases.sorted() == H264Level.allCases)
  }

  /// Examples that H.264's table A-6 gives of table A-1's limits (size, and the most frames a second).
  @Test(arguments: [
    (128, 96, 30.9, H264Level.level1), (176, 144, 15.0, .level1), (176, 144, 30.0, .level1_1),
    (352, 288, 15.0, .level1_2), (352, 288, 30.0, .level1_3), (352, 576, 25.0, .level2_1),
    (720, 480, 15.0, .level2_2), (720, 576, 25.0, .level3), (1_280, 720, 30.0, .level3_1),
    (1_280, 720, 60.0, .level3_2), (1_920, 1_080, 30.0, .level4), (1_920, 1_080, 60.0, .level4_2),
    (2_048, 1_024, 72.0, .level5), (3_840, 2_160, 30.0, .level5_1), (3_840, 2_160, 60.0, .level5_2),
    (7_680, 4_320, 30.0, .level6), (7_680, 4_320, 60.0, .level6_1),
  ])
  func levelsFollowFromSizeAndFrameRate(
    _ width: Int, _ height: Int, _ rate: Double, _ level: H264Level
  ) {
    #expect(
      H264Level.level(forWidth: width, height: height, framesPerSecond: rate) == level)
    #expect(level.fits(width: width, height: height, framesPerSecond: rate))
  }

  @Test func levelsFollowFromBits() {
    func level(_ bits: Int, _ profile: H264Profile = .constrainedBaseline) -> H264Level? {
      H264Level.level(
        forWidth: 640, height: 360, framesPerSecond: 30, bitsPerSecond: bits, profile: profile)
    }
    #expect(level(1_000_000) == .level3)
    #expect(level(10_000_001) == .level3_1)
    #expect(level(10_000_001, .high) == .level3)
    #expect(level(14_000_001) == .level3_2)
    #expect(level(900_000_000) == nil)
    #expect(H264Level.level(forWidth: 0, height: 10) == nil)
    #expect(H264Level.level(forWidth: .max, height: .max) == nil)
    // No side beyond the root of eight times the macroblocks: 4,096 samples in level 4.
    #expect(H264Level.level(forWidth: 4_112, height: 16) == .level4_2)
  }

  @Test func referenceFramesFollowFromTheLevel() {
    #expect(H264Level.level3_1.maximumReferenceFrames(width: 1_280, height: 720) == 5)
    #expect(H264Level.level4.maximumReferenceFrames(width: 1_920, height: 1_080) == 4)
    #expect(H264Level.level4.maximumReferenceFrames(width: 16, height: 16) == 16)
    #expect(H264Level.level1.maximumReferenceFrames(width: 0, height: 16) == 0)
  }

  @Test func decodersIncludeWhatIsWithinTheirProfile() throws {
    func includes(_ decoder: String, _ stream: String) throws -> Bool {
      try #require(H264ProfileLevelID(decoder)).includes(try #require(H264ProfileLevelID(stream)))
    }
    #expect(try includes("64001f", "42e01f"))
    #expect(try includes("64001f", "640c1e"))
    #expect(try includes("4d001f", "42e01f"))
    #expect(try !includes("4d001f", "42001f"))
    #expect(try !includes("42e01f", "42e020"))
    #expect(try !includes("42e01f", "4d001f"))
    #expect(try includes("f4001f", "64001f"))
    #expect(try !includes("640c1f", "4d001f"))
  }
}
