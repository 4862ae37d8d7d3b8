import SoraMedia
import Testing

@Suite struct VideoCodecFormatTests {
  @Test func namesFindTheirCodecInAnyCase() {
    for kind in VideoCodecKind.allCases {
      let name = kind.format.encodingName
      #expect(name == name.uppercased() && kind.encodingName == name)
      #expect(VideoCodecKind(encodingName: name.lowercased()) == kind)
    }
    #expect(VideoCodecKind(encodingName: "VP7") == nil && VideoCodecKind(encodingName: "") == nil)
  }

  /// RFC 3551 §6 leaves 96 to 127 to be given out, RFC 5761 §4 some of those below 64, too.
  @Test func payloadTypesAreDynamicAndOneCodecsOwn() {
    let formats = VideoCodecKind.allCases.map(\.format)
    let offered = formats.map(\.offeredPayloadType)
    let served = formats.flatMap {
      [$0.servedPayloadTypes.media, $0.servedPayloadTypes.retransmission]
    }
    for types in [offered, served] {
      #expect(Set(types).count == types.count)
      #expect(types.allSatisfy { (35...63).contains($0) || (96...127).contains($0) })
    }
  }

  @Test func parametersAreInTheOrderTheyAreWritten() {
    let names = VideoCodecKind.av1.format.parameters.map { "\($0.name)=\($0.value)" }
    #expect(names == ["level-idx=5", "profile=0", "tier=0"])
    #expect(VideoCodecKind.vp8.format.parameters.isEmpty)
    for kind in VideoCodecKind.allCases {
      let names = kind.format.parameters.map(\.name)
      #expect(Set(names).count == names.count)
    }
  }
}
