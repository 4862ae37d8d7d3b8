import CodecTestSupport
import SoraCodecs
import Testing

@Suite struct DecoderRobustnessTests {
  @Test func hugePicturesAreRefusedBeforeMemoryIsReserved() throws {
    var bytes = try vp9.stream(1, 64, 64)[0]
    // Width and height follow the sync code and a nibble of colour information.
    bytes[4] |= 0x0F
    for index in 5..<8 { bytes[index] = 0xFF }
    bytes[8] |= 0xF0
    let decoder = try vp9.decoder()
    #expect(throws: CodecError.pictureTooLarge(width: 65_536, height: 65_536)) {
      try decoder.decode(unknownFrame(bytes))
    }
  }

  @Test func otherProfilesAreRefusedByName() throws {
    let decoder = try vp9.decoder()
    // Frame marker 2, the profile's low and high bit (10 0 1 is profile 2), a shown key frame, the sync code, and in profile 2 a bit
    // that says 12 bits a sample.
    for (bytes, profile) in [
      ([0b1001_0010, 0x49, 0x83, 0x42, 0x80], "profile 2, 12 bits"),
      ([0b1010_0010, 0x49, 0x83, 0x42], "profile 1"),
      ([0b1011_0001, 0x24, 0xC1, 0xA1], "profile 3"),
    ] as [([UInt8], String)] {
      #expect(throws: CodecError.unsupportedProfile(kind: .vp9, profile: profile)) {
        try decoder.decode(unknownFrame(bytes + Array(repeating: 0, count: 8)))
      }
    }
  }
}
