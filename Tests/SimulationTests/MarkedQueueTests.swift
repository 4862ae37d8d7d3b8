import SoraCongestion
import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraTransport
import Testing
import WebRTC

/// Calls through the server over links whose queues mark packets in place of dropping them.
@Suite struct MarkedQueueTests {
  private func report(_ client: SimulatedClient, _ network: SimulatedNetwork) -> RTCStatisticsReport
  {
    client.core.statistics(
      at: network.now, unixNanoseconds: 1_700_000_000_000_000_000 + network.now.nanoseconds)
  }

  private static func marking(_ bitsPerSecond: Int) -> LinkConditions {
    LinkConditions(
      delay: .milliseconds(20), bitsPerSecond: bitsPerSecond, codel: CoDel(marks: true))
  }

  /// A publisher that sends, and a player, each behind a link of its own.
  private func call(
    seed: UInt64, up: LinkConditions, down: LinkConditions, isOffered: Bool = true
  ) throws -> (SimulatedNetwork, publisher: SimulatedClient, player: SimulatedClient) {
    let network = SimulatedNetwork(seed: seed)
    let room = try Room(network, network.addHost("server", "10.0.0.1")) {
      $0.offersFeedbackBySource = isOffered
    }
    let publisher = try room.join("publisher", 1, role: .sendonly, up)
    let player = try room.join("player", 2, role: .recvonly, down)
    publisher.startMedia()
    return (network, publisher, player)
  }

  /// The publisher's link has half of what it would send; the server's to the player has room.
  @Test(arguments: [true, false]) func aCall(offeringFeedbackBySource isOffered: Bool) throws {
    let (network, publisher, player) = try call(
      seed: 88, up: Self.marking(800_000), down: Self.marking(4_000_000), isOffered: isOffered)
    network.run(for: .seconds(10))
    let early = publisher.link.forwardStatistics
    network.run(for: .seconds(20))
    let uplink = publisher.link.forwardStatistics
    let sent = try #require(report(publisher, network).outboundRTP.first { $0.kind == .video })
    let seen = try #require(report(player, network).inboundRTP.first { $0.kind == .video })
    let video = try #require(player.reception.values.first { $0.frames > 0 })
    print(
      isOffered ? "marks:" : "drops:", "\(video.frames) of \(publisher.framesSent) frames,",
      "\(uplink.marked) packets marked, \(uplink.dropped) dropped of \(uplink.sentPackets),",
      "\(sent.packetsSentWithEct1) of \(sent.packetsSent) left and \(seen.packetsReceivedWithEct1) of \(seen.packetsReceived) arrived as ECT(1)"
    )
    #expect(publisher.errors.isEmpty && player.errors.isEmpty)
    #expect(Double(video.frames) > 0.9 * Double(publisher.framesSent))
    guard isOffered else {
      #expect(uplink.marked == 0 && uplink.dropped > early.dropped)
      #expect(sent.packetsSentWithEct1 == 0 && seen.packetsReceivedWithEct1 == 0)
      return
    }
    #expect(uplink.marked > early.marked && uplink.dropped == early.dropped)
    #expect(publisher.core.session.ecnState == .capable)
    #expect(sent.packetsSentWithEct1 > sent.packetsSent * 9 / 10)
    #expect(seen.packetsReceivedWithEct1 > seen.packetsReceived * 9 / 10)
  }

  /// A player that is sent a stream with three temporal layers over a link that is narrower: marks have layers left out, and nothing is lost.
  @Test func aSubscriberBehindANarrowLink() throws {
    let (network, publisher, player) = try call(
      seed: 89, up: LinkConditions(delay: .milliseconds(20)), down: Self.marking(700_000))
    network.run(for: .seconds(10))
    let early = player.link.backwardStatistics
    network.run(for: .seconds(20))
    let downlink = player.link.backwardStatistics
    let video = try #require(player.reception.values.first { $0.frames > 0 })
    print(
      "\(video.frames) of \(publisher.framesSent) frames over 700 kbit/s,",
      "\(downlink.marked) packets marked, \(downlink.dropped) dropped of \(downlink.sentPackets)")
    #expect(downlink.sentPackets > early.sentPackets + 500)
    #expect(downlink.marked > 0)
    #expect(downlink.dropped - early.dropped <= downlink.marked / 4)
    #expect(video.frames > 100)
  }
}
