import SoraMedia
import SoraSDP
import Testing

/// Which format parameters mean the same format of a codec.
@Suite struct VideoFormatTests {
  private func isSame(_ codec: VideoCodecKind, _ one: String, _ other: String) -> Bool {
    let parameters = [one, other].map { FormatParameters(parsing: $0) }
    let there = parameters[0].isSameFormat(as: parameters[1], of: codec.format)
    #expect(there == parameters[1].isSameFormat(as: parameters[0], of: codec.format))
    return there
  }

  @Test(arguments: VideoCodecKind.allCases) func whatIsOfferedIsItself(_ codec: VideoCodecKind) {
    let offered = FormatParameters(codec.format)
    #expect(offered.entries.count == codec.format.parameters.count)
    #expect(isSame(codec, "\(offered)", "\(offered)"))
    #expect(isSame(codec, "\(offered)", "\(offered);something-else=1"))
  }

  @Test func vp8HasOneFormat() { #expect(isSame(.vp8, "", "max-fr=30;max-fs=3600")) }

  /// RFC 9628 §6.
  @Test func vp9DiffersByProfile() {
    #expect(isSame(.vp9, "profile-id=0", "") && isSame(.vp9, "PROFILE-ID=2", "profile-id=02"))
    #expect(!isSame(.vp9, "profile-id=2", "") && !isSame(.vp9, "profile-id=2", "profile-id=0"))
    #expect(
      !isSame(.vp9, "profile-id=x", "profile-id=y") && !isSame(.vp9, "profile-id", "profile-id=1"))
  }

  /// RTP Payload Format For AV1 §7.2.1: level and tier say what is received.
  @Test func av1DiffersByProfile() {
    #expect(isSame(.av1, "level-idx=5;profile=0;tier=0", "level-idx=8;tier=1"))
    #expect(!isSame(.av1, "profile=1", "tier=0"))
  }

  /// RFC 6184 §8.2.2; the profile is `H264ProfileLevelID`'s.
  @Test func h264DiffersByItsPacketizationMode() {
    #expect(isSame(.h264, "profile-level-id=42e01f", "packetization-mode=0"))
    #expect(!isSame(.h264, "packetization-mode=1", ""))
  }

  /// RFC 7798 §7.2.2.
  @Test func h265DiffersByProfileTierAndMode() {
    #expect(isSame(.h265, "level-id=156;profile-id=1;tier-flag=0;tx-mode=SRST", "level-id=93"))
    for other in ["profile-id=2", "tier-flag=1", "tx-mode=MRST"] {
      #expect(!isSame(.h265, "", other), "\(other)")
    }
  }
}
