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
    // Frame marker 2, then the profile's low and high bit: 10 0 1 is profile 2.
    for (first, profile) in [(0b1001_0010, 2), (0b1010_0010, 1), (0b1011_0011, 3)] {
      #expect(
        throws: CodecError.unsupportedProfile(kind: .vp9, profile: "profile \(profile)")
      ) {
        try decoder.decode(
          unknownFrame([UInt8(first), 0x49, 0x83, 0x42] + Array(repeating: 0, count: 8)))
      }
    }
  }
}
