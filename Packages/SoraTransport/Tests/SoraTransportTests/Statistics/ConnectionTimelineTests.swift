import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing

/// Where the time of a connection's making goes.
@Suite struct ConnectionTimelineTests {
  private func at(_ milliseconds: Int64) -> Instant {
    Instant(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
  }

  @Test func phasesFollowOneAnotherWithoutGaps() {
    var timeline = ConnectionTimeline()
    #expect(timeline.spans.isEmpty && timeline.total == .zero && timeline.signaling == nil)
    timeline.started = at(0)
    timeline.webSocketOpened = at(10)
    timeline.offerReceived = at(35)
    #expect(timeline.spans.map(\.phase) == [.webSocket, .offer])
    #expect(timeline.total == .milliseconds(35))
    timeline.gatheringStarted = at(38)
    timeline.gatheringEnded = at(90)
    timeline.checksStarted = at(40)
    timeline.pairSelected = at(60)
    timeline.secured = at(85)
    timeline.firstPacketReceived = at(120)
    timeline.firstPacketSent = at(100)
    #expect(timeline.spans.map(\.phase) == ConnectionTimeline.Phase.allCases)
    #expect(
      timeline.spans.map(\.duration)
        == [10, 25, 5, 20, 25, 15].map { Duration.milliseconds($0) })
    #expect(timeline.total == .milliseconds(100))
    #expect(timeline.signaling == .milliseconds(40))
    #expect(timeline.gathering == .milliseconds(52))
    #expect(timeline[.dtls] == .milliseconds(25))
  }

  @Test func whatIsNotKnownFallsToTheNextPhase() {
    var timeline = ConnectionTimeline()
    timeline.started = at(0)
    timeline.checksStarted = at(30)
    timeline.secured = at(70)
    #expect(timeline.spans.map(\.phase) == [.negotiation, .dtls])
    #expect(timeline.total == .milliseconds(70))
    timeline.started = nil
    #expect(timeline.spans.map(\.phase) == [.dtls])
    #expect(timeline.total == .milliseconds(40))
  }

  @Test func anEventThatIsToldLateTakesNoTimeTwice() {
    var timeline = ConnectionTimeline()
    timeline.started = at(0)
    timeline.webSocketOpened = at(20)
    timeline.offerReceived = at(15)
    timeline.checksStarted = at(50)
    #expect(timeline[.offer] == .zero)
    #expect(timeline.total == .milliseconds(50))
  }

  @Test func aCallOfARoundTripOf40Milliseconds() throws {
    let call = try RelayedCall(seed: 51)
    call.firewall.isOpen = true
    #expect(call.connect())
    call.exchange(1)
    for peer in [call.a, call.b] {
      let timeline = peer.transport.statistics.timeline
      #expect(timeline.spans.map(\.phase) == [.checks, .dtls, .firstPacket])
      let sum = timeline.spans.reduce(Duration.zero) { $0 + $1.duration }
      #expect(sum == timeline.total)
      #expect(timeline.total > .milliseconds(80) && timeline.total < .seconds(2))
      // Each takes at least a trip of 20 ms; candidates are 30 ms under way before.
      for phase in [ConnectionTimeline.Phase.checks, .dtls] {
        #expect(try #require(timeline[phase]) >= .milliseconds(20), "\(phase)")
      }
      #expect(timeline.gathering != nil)
      let sent = try #require(timeline.firstPacketSent)
      #expect(sent < timeline.firstPacketReceived ?? sent)
    }
    // One that asked a server took a round trip to it.
    let (a, b) = (call.a.transport.statistics.timeline, call.b.transport.statistics.timeline)
    #expect(try #require(a.gathering) >= .milliseconds(30))
    #expect(b.gathering == .zero)
  }
}
