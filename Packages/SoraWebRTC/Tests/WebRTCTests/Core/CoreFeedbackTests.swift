import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraTransport
import Testing
import WebRTC

/// Calls whose descriptions agree on other feedback and on repair.
@Suite struct CoreFeedbackTests {
  @Test func aCallWithFeedbackBySourceAndRepair() throws {
    let pair = CorePair(seed: 71, LinkConditions(delay: .milliseconds(40), loss: 0.04))
    pair.caller.core.negotiator.configuration.offersRepair = true
    pair.caller.core.negotiator.configuration.offersFeedbackBySource = true
    try pair.negotiate()
    pair.network.run(for: .seconds(20))
    for (party, other) in [(pair.caller, pair.callee), (pair.callee, pair.caller)] {
      let report = pair.report(of: party)
      let video = try #require(report.inboundRTP.first { $0.kind == .video })
      print(
        "\(party.name): \(party.frames.count) of \(other.framesSent) frames, \(video.fecPacketsReceived) repair packets, "
          + "\(party.core.session.estimatedBitrate) bit/s")
      #expect(party.frames.count > Int(other.framesSent) - 20 && party.damaged == 0)
      #expect(video.fecPacketsReceived > 50 && video.fecBytesReceived > 1000)
      #expect(video.fecPacketsDiscarded < video.fecPacketsReceived)
      #expect(party.core.session.estimatedBitrate > 1_000_000, "feedback came")
      #expect(party.core.session.dropped.unknownRTCP == 0)
      #expect(party.core.session.dropped.unknownPayloadType == 0)
      #expect(party.core.session.dropped.unknownSource < 20)
    }
  }

  /// Who only receives learns its round trip from the sender's answers.
  @Test func aPureReceiverHasARoundTrip() throws {
    let pair = CorePair(seed: 72, LinkConditions(delay: .milliseconds(30)))
    for transceiver in pair.callee.core.negotiator.transceivers {
      pair.callee.core.setDirection(
        .recvonly, transceiverID: transceiver.id, at: pair.network.now)
    }
    try pair.negotiate()
    pair.network.run(for: .seconds(10))
    let remote = pair.report(of: pair.callee).remoteOutboundRTP
    #expect(remote.count == 2)
    for object in remote {
      let trip = try #require(object.roundTripTime)
      #expect(trip >= .milliseconds(59) && trip < .milliseconds(64), "\(trip)")
      #expect(object.roundTripTimeMeasurements >= 3)
      #expect(object.totalRoundTripTime >= trip * (object.roundTripTimeMeasurements - 1))
    }
    #expect(pair.report(of: pair.caller).remoteOutboundRTP.isEmpty)
  }
}
