import SoraMedia
import SoraSRTP
import Testing

/// RFC 3711 appendix B.
@Suite struct RFC3711VectorTests {
  let master = SRTPKeyingMaterial(
    key: "E1F97A0D3E018BE0D64FA32C06DE4139".hex, salt: "0EC675AD498AFEEBB6960B3AABE6".hex)

  @Test func keysAreDerivedAsInB3() throws {
    #expect(
      try SRTPKeyDerivation.derive(.rtpEncryption, count: 16, from: master)
        == "C61E7A93744F39EE10734AFE3FF7A087".hex)
    #expect(
      try SRTPKeyDerivation.derive(.rtpSalt, count: 14, from: master)
        == "30CBBC08863D8C85D49DB34A9AE1".hex)
    #expect(
      try SRTPKeyDerivation.derive(.rtpAuthentication, count: 94, from: master)
        == """
        CEBE321F6FF7716B6FD4AB49AF256A15 6D38BAA48F0A0ACF3C34E2359E6CDBCE
        E049646C43D9327AD175578EF7227098 6371C10C9A369AC2F94A8C5FBCDDDC25
        6D6E919A48B610EF17C2041E47403576 6B68642C59BBFC2F34DB60DBDFB2
        """.hex)
  }

  /// B.2's key stream starts at the session salt with SSRC and index 0. The derivation runs the same counter mode
  /// under a key of ours, so B.2 is checked with label 0, whose counter is the salt alone.
  @Test func keyStreamIsThatOfB2() throws {
    let session = SRTPKeyingMaterial(
      key: "2B7E151628AED2A6ABF7158809CF4F3C".hex, salt: "F0F1F2F3F4F5F6F7F8F9FAFBFCFD".hex)
    #expect(
      try SRTPKeyDerivation.derive(.rtpEncryption, count: 48, from: session)
        == """
        E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB
        41E95B3BB0A2E8DD477901E4FCA894C0
        """.hex)
  }
}

/// RFC 7714 §16 and §17. They give session keys, not master keys.
@Suite struct RFC7714VectorTests {
  static let key = "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F".hex
  static let salt = "517569642070726F2071756F".hex

  /// §16: sequence number F17B, SSRC 5501A0B2, rollover counter 0.
  static let rtp =
    "8040F17B 8041F8D3 5501A0B2 47616C6C 69612065 7374206F 6D6E6973 20646976 69736120 696E2070 61727465 73207472 6573"
    .hex

  /// §17.1 and §17.2: SSRC 4D617273, index 5D4.
  static let rtcp =
    "81C8000D 4D617273 4E545031 4E545032 52545020 0000042A 0000E930 4C756E61 DEADBEEF DEADBEEF DEADBEEF DEADBEEF DEADBEEF"
    .hex

  func session(_ profile: SRTPProfile) throws -> SRTPSession {
    try SRTPSession(
      profile: profile,
      sessionKeys: SRTPKeyingMaterial(
        key: Array(Self.key.prefix(profile.keyLength)), salt: Self.salt))
  }

  @Test(arguments: [
    (
      SRTPProfile.aeadAES128GCM,
      """
      8040F17B 8041F8D3 5501A0B2 F24DE3A3 FB34DE6C ACBA861C 9D7E4BCA BE633BD5 0D294E6F 42A5F47A
      51C7D19B 36DE3ADF 8833899D 7F27BEB1 6A9152CF 765EE439 0CCE
      """
    ),
    (
      SRTPProfile.aeadAES256GCM,
      """
      8040F17B 8041F8D3 5501A0B2 32B1DE78 A822FE12 EF9F78FA 332E33AA B1801238 9A58E2F3 B50B2A02
      76FFAE0F 1BA63799 B87B7AA3 DB36DFFF D6B0F9BB 7878D7A7 6C13
      """
    ),
  ])
  func rtpIsThatOf16(profile: SRTPProfile, expected: String) throws {
    let session = try session(profile)
    #expect(try session.run(.protectRTP, Self.rtp).get() == expected.hex)
    #expect(try session.run(.unprotectRTP, expected.hex).get() == Self.rtp)
  }

  @Test(arguments: [
    (
      SRTPProfile.aeadAES128GCM,
      """
      81C8000D 4D617273 63E94885 DCDAB67C A727D766 2F6B7E99 7FF5C0F7 6C06F32D C676A5F1 730D6FDA
      4CE09B46 86303DED 0BB9275B C84AA458 96CF4D2F C5ABF872 45D9EADE 800005D4
      """
    ),
    (
      SRTPProfile.aeadAES256GCM,
      """
      81C8000D 4D617273 D50AE4D1 F5CE5D30 4BA297E4 7D470C28 2C3ECE5D BFFE0A50 A2EAA5C1 110555BE
      8415F658 C61DE047 6F1B6FAD 1D1EB30C 4446839F 57FF6F6C B26AC3BE 800005D4
      """
    ),
  ])
  func rtcpIsThatOf17(profile: SRTPProfile, expected: String) throws {
    let session = try session(profile)
    #expect(try session.run(.unprotectRTCP, expected.hex).get() == Self.rtcp)
    for _ in 1..<0x5D4 { _ = try session.run(.protectRTCP, Self.rtcp).get() }
    #expect(try session.run(.protectRTCP, Self.rtcp).get() == expected.hex)
  }

  /// §17.3: tagged, not encrypted. WebRTC encrypts always, so it is refused.
  @Test func unencryptedControlPacketsAreRefused() throws {
    let tagged = Self.rtcp + "841DD968 3DD78EC9 2AE58790 125F62B3 000005D4".hex
    #expect(
      try session(.aeadAES128GCM).run(.unprotectRTCP, tagged).judgement == .refused(.malformed))
  }
}
