import SoraICE
import SoraMedia
import Testing

/// When a pair's silence counts, and how often the peer is asked (RFC 7675).
@Suite struct ICEConsentClockTests {
  private let start = Instant.zero + .seconds(100)
  private let random = RandomSource(seed: 3)

  private func heard(_ configuration: ICEConfiguration = .init(isControlling: true)) -> ICEConsent {
    var consent = ICEConsent(configuration)
    consent.hear(at: start, random)
    return consent
  }

  @Test func asksAreSpreadByAFifth() throws {
    var waits: Set<Duration> = []
    for _ in 0..<50 { waits.insert(try #require(heard().nextCheckAt) - start) }
    #expect(waits.count > 10)
    #expect(waits.allSatisfy { $0 >= .milliseconds(800) && $0 <= .milliseconds(1200) })
  }

  @Test func whatIsNotAnsweredIsAskedFasterUntilThePeerIsHeard() throws {
    var consent = heard()
    let first = try #require(consent.nextCheckAt)
    let early = consent.takeCheck(
      at: first - .milliseconds(1), isDisconnected: false, roundTrip: nil)
    #expect(early == nil)
    let asked = consent.takeCheck(at: first, isDisconnected: false, roundTrip: nil)
    #expect(asked == 0 && consent.nextCheckAt == first + .milliseconds(250))
    let again = consent.takeCheck(
      at: first + .milliseconds(250), isDisconnected: true, roundTrip: .milliseconds(180))
    #expect(again == 1 && consent.nextCheckAt == first + .milliseconds(430))
    consent.hear(at: first + .milliseconds(430), random)
    let next = try #require(consent.nextCheckAt)
    #expect(next >= first + .milliseconds(1230))
    let after = consent.takeCheck(at: next, isDisconnected: false, roundTrip: nil)
    #expect(after == 0)
    consent.stopAsking()
    #expect(consent.nextCheckAt == nil)
  }

  @Test func silenceAndItsEnd() {
    let consent = heard()
    #expect(!consent.isSilent(at: start + .milliseconds(2499)))
    #expect(consent.isSilent(at: start + .milliseconds(2500)))
    #expect(consent.end(over: .none) == start + .seconds(5))
    #expect(consent.end(over: .peers) == start + .seconds(30))
  }

  @Test func aRelayOfOursIsWaitedForWhileItIsInDoubt() {
    var consent = heard()
    #expect(consent.end(over: .ours) == start + .seconds(5))
    consent.noteRelay(isInDoubt: true, at: start + .seconds(1))
    #expect(consent.end(over: .ours) == start + .seconds(30))
    // From its return on the peer has its five seconds, but never more than thirty in all.
    consent.noteRelay(isInDoubt: false, at: start + .seconds(7))
    consent.noteRelay(isInDoubt: false, at: start + .seconds(8))
    #expect(consent.end(over: .ours) == start + .seconds(12))
    consent.noteRelay(isInDoubt: true, at: start + .seconds(9))
    consent.noteRelay(isInDoubt: false, at: start + .seconds(29))
    #expect(consent.end(over: .ours) == start + .seconds(30))
    #expect(consent.end(over: .none) == start + .seconds(5))
  }

  @Test func aLiteAgentAsksOnlyInSilence() {
    var configuration = ICEConfiguration(isControlling: false, isLite: true)
    #expect(heard(configuration).nextCheckAt == start + .seconds(2))
    configuration.liteAsksWhenSilent = false
    #expect(heard(configuration).nextCheckAt == nil)
  }
}
