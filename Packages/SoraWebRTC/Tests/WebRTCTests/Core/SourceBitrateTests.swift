import SoraMedia
import SoraNetworkSimulator
import Testing
import WebRTC

/// How far the path is used for videos that come encoded, and can't be made smaller.
@Suite struct SourceBitrateTests {
  /// What the caller's video may take after a while on a link of 40 Mbit/s.
  private func videoBitrate(
    givenBySource rate: Int?, limit: Int? = nil, then last: Int? = nil
  ) throws -> Int {
    let pair = CorePair(
      seed: 40, LinkConditions(delay: .milliseconds(20), bitsPerSecond: 40_000_000))
    try pair.negotiate(from: pair.caller, to: pair.callee) { answer in
      guard let limit else { return answer }
      // Behind the section's connection line, where RFC 8866 §5 wants it.
      var lines = answer.components("\r\n")
      if let video = lines.firstIndex(where: { $0.hasPrefix("m=video") }),
        let place = lines[video...].firstIndex(where: { $0.hasPrefix("c=") })
      {
        lines.insert("b=TIAS:\(limit)", at: place + 1)
      }
      return lines.joined(separator: "\r\n")
    }
    pair.network.run(for: .seconds(5))
    let core = pair.caller.core
    let video = core.media.first { $0.kind == .video }
    let id = try #require(video).transceiverID
    for rate in [rate, last].compactMap(\.self) {
      core.setSourceBitrate(rate, transceiverID: id, at: pair.network.now)
      pair.network.deadlinesChanged()
      pair.network.run(for: .seconds(25))
    }
    pair.network.run(for: .seconds(10))
    return core.videoBitrate(transceiverID: id)
  }

  @Test func aSourceOfHighRateGetsIt() throws {
    let usual = try videoBitrate(givenBySource: nil)
    #expect(usual > 4_000_000 && usual < 6_500_000, "\(usual)")
    let wide = try videoBitrate(givenBySource: 14_000_000)
    #expect(wide > 14_000_000 && wide < 18_000_000, "\(wide)")
    // Encoded here again.
    let again = try videoBitrate(givenBySource: 14_000_000, then: 0)
    #expect(again < 6_500_000, "\(again)")
  }

  @Test func theOtherSidesLimitStays() throws {
    let limited = try videoBitrate(givenBySource: 14_000_000, limit: 8_000_000)
    #expect(limited > 6_500_000 && limited <= 8_000_000, "\(limited)")
  }
}

extension String {
  fileprivate func components(_ separator: Character) -> [String] {
    split(separator: separator, omittingEmptySubsequences: false).map(String.init)
  }
}
