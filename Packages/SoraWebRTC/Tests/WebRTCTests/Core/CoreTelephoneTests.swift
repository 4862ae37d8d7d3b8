import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import Testing
import WebRTC

/// Keys of a telephone in whole calls, in virtual time.
@Suite(.timeLimit(.minutes(5))) struct CoreTelephoneTests {
  private static let keys = "0123456789*#ABCD"

  /// A call over a link, in which the caller presses all keys.
  ///
  /// - Parameter answer: what becomes of the answer on its way.
  private func call(
    seed: UInt64, _ conditions: LinkConditions, duration: Duration = .milliseconds(100),
    answer change: (String) -> String = { $0 }
  ) throws -> (pair: CorePair, isPlayed: Bool) {
    let pair = CorePair(seed: seed, conditions)
    try pair.negotiate(from: pair.caller, to: pair.callee, answer: change)
    pair.network.run(for: .seconds(3))
    let isPlayed = pair.caller.press(
      Self.keys, duration: duration, gap: .milliseconds(70), at: pair.network.now)
    pair.network.run(for: .seconds(8))
    return (pair, isPlayed)
  }

  private func told(_ party: CoreParty) -> String {
    party.keysReceived.compactMap { $0.isEnd ? $0.tone : nil }.reduce("") { $0 + String($1) }
  }

  @Test func eachKeyArrivesOnceAndInOrder() throws {
    let (pair, isPlayed) = try call(seed: 31, LinkConditions(delay: .milliseconds(30)))
    #expect(isPlayed && told(pair.callee) == Self.keys)
    #expect(pair.caller.keysPlayed == Self.keys.map { String($0) } + [""])
    let events = pair.callee.keysReceived
    #expect(
      events.count == 32 && zip(events, events.dropFirst()).allSatisfy { $0.isEnd != $1.isEnd })
    #expect(events.filter(\.isEnd).allSatisfy { $0.duration == .milliseconds(100) })
    #expect(events.allSatisfy { $0.volume == -10 })
    #expect(pair.caller.keysReceived.isEmpty)
    // Audio makes room for a key while it sounds, and goes on.
    let silent = Int(pair.caller.audioSent) - pair.callee.audioReceived
    #expect((70...110).contains(silent), "\(silent) packets of audio weren't there")
  }

  /// A fifth of all packets is lost; reports are repeated, and asked for again.
  @Test(arguments: [32, 33, 34] as [UInt64]) func overALossyLink(_ seed: UInt64) throws {
    let (pair, isPlayed) = try call(
      seed: seed,
      LinkConditions(delay: .milliseconds(50), jitter: .milliseconds(20), loss: 0.2))
    #expect(isPlayed && told(pair.callee) == Self.keys)
  }

  /// A key that is longer than the field for its duration (RFC 4733 §2.5.1.3).
  @Test func longKey() throws {
    let pair = CorePair(seed: 35, LinkConditions(delay: .milliseconds(30), loss: 0.1))
    try pair.negotiate()
    pair.network.run(for: .seconds(3))
    #expect(
      pair.caller.press(
        "7", duration: .seconds(6), gap: .milliseconds(70), at: pair.network.now))
    pair.network.run(for: .seconds(8))
    let events = pair.callee.keysReceived
    #expect(events.count == 2 && events.first?.isEnd == false)
    #expect(events.last?.isEnd == true && events.last?.duration == .seconds(6))
  }

  /// Where the other side's description hasn't them, nothing is sent.
  @Test func whoDoesNotTakeThemGetsNone() throws {
    let (pair, isPlayed) = try call(seed: 36, LinkConditions(delay: .milliseconds(30))) { answer in
      answer.replacing("telephone-event", with: "telephone-nothing")
    }
    #expect(!isPlayed && pair.callee.keysReceived.isEmpty && pair.caller.keysPlayed.isEmpty)
    #expect(pair.callee.audioReceived > 400)
  }

  /// With G.711 they are on its clock, of 8,000 Hz.
  @Test func besideG711() throws {
    let (pair, isPlayed) = try call(seed: 37, LinkConditions(delay: .milliseconds(30))) { answer in
      answer.replacing("opus/48000", with: "nothing/48000")
    }
    let send = try #require(pair.caller.core.media.first { $0.kind == .audio }?.send)
    #expect(send.codec.name == "PCMU" && send.telephoneEvents == 126)
    #expect(isPlayed && told(pair.callee) == Self.keys)
    #expect(
      pair.callee.keysReceived.filter(\.isEnd).allSatisfy { $0.duration == .milliseconds(100) })
  }
}
