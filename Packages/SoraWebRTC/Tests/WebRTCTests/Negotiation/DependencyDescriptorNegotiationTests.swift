import SoraSDP
import Testing
import WebRTC

/// The dependency descriptor as a header extension: longer than one-byte elements may be, so both sides have to allow both
/// forms (RFC 8285 §4.1.2).
@Suite struct DependencyDescriptorNegotiationTests {
  private func agreed(_ change: (String) -> String) throws -> Bool {
    let client = FormatNegotiationTests.negotiator([.av1])
    let offer = FormatNegotiationTests.offer([
      "a=rtpmap:45 AV1/90000", "a=extmap:9 \(HeaderExtensionURI.dependencyDescriptor)",
    ])
    let answer = try Fixture.answer(client, change(offer))
    #expect(answer.media[0].extensions.map(\.id) == [9])
    return client.session?.media[0].extensionID(HeaderExtensionURI.dependencyDescriptor) == 9
  }

  @Test func itIsUsedWhereBothFormsMayBeMixed() throws {
    #expect(try agreed { $0.replacing("t=0 0\r\n", with: "t=0 0\r\na=extmap-allow-mixed\r\n") })
    #expect(try agreed { $0.replacing("a=mid:0\r\n", with: "a=mid:0\r\na=extmap-allow-mixed\r\n") })
    #expect(try !agreed { $0 })
  }

  @Test func twoOfUsAgreeOnIt() throws {
    let alice = FormatNegotiationTests.negotiator([.av1])
    let bob = FormatNegotiationTests.negotiator([.av1])
    try Fixture.exchange(alice, bob)
    let ids = [alice, bob].map {
      $0.session?.media[0].extensionID(HeaderExtensionURI.dependencyDescriptor)
    }
    #expect(ids[0] != nil && ids[0] == ids[1])
  }
}
