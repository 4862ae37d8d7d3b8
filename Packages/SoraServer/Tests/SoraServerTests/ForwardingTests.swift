import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraSDP
import SoraServer
import SoraTransport
import Testing

/// Media from publishers to subscribers, in virtual time.
struct ForwardingTests {
  private func makeCall(
    _ conditions: LinkConditions = LinkConditions(delay: .milliseconds(10))
  ) throws -> (
    SimulatedNetwork, TestServer, a: ScriptedClient, b: ScriptedClient, c: ScriptedClient
  ) {
    let network = SimulatedNetwork(seed: 11)
    let server = try TestServer(network)
    let a = try ScriptedClient("a", 1, server, conditions).connect(.sendonly)
    let b = try ScriptedClient("b", 2, server, conditions).connect(.sendonly)
    let c = try ScriptedClient("c", 3, server, conditions).connect(.recvonly)
    let isReady = network.run(
      until: { c.sections(of: a, .video).count == 1 && c.sections(of: b, .audio).count == 1 },
      within: .seconds(5))
    #expect(isReady)
    network.run(for: .milliseconds(200))
    #expect(a.isConnected && b.isConnected && c.isConnected)
    return (network, server, a, b, c)
  }

  @Test func twoPublishersReachOneSubscriberUntouched() throws {
    let (network, server, a, b, c) = try makeCall()
    for index in 0..<200 {
      let number = UInt16(truncatingIfNeeded: 65_450 + index)
      a.send(.video, sequence: number, timestamp: UInt32(index) * 3000, ssrc: 10)
      a.send(.audio, sequence: UInt16(index), timestamp: UInt32(index) * 960, ssrc: 11)
      b.send(.video, sequence: UInt16(index), timestamp: UInt32(index) * 3000, ssrc: 10)
      network.run(for: .milliseconds(20))
    }
    network.run(for: .milliseconds(200))
    for (publisher, first) in [(a, UInt16(65_450)), (b, UInt16(0))] {
      let packets = c.packets(of: publisher, .video).media
      #expect(packets.count == 200)
      for (index, packet) in packets.enumerated() {
        #expect(packet.sequenceNumber == packets[0].sequenceNumber &+ UInt16(index))
        #expect(packet.timestamp &- packets[0].timestamp == UInt32(index) * 3000)
        #expect(packet.payload == ScriptedClient.payload(first &+ UInt16(index)))
        #expect(packet.orientation == .clockwise90)
        #expect(packet.marker && packet.hasTransportNumber)
      }
      #expect(packets[0].mid == c.sections(of: publisher, .video)[0].mid)
    }
    #expect(c.packets(of: a, .audio).media.count == 200)
    #expect(c.packets(of: a, .audio).media.allSatisfy { $0.level == 30 })
    // One run of transport-wide numbers over all sources.
    #expect(c.transportNumbers.count == 600)
    for (index, number) in c.transportNumbers.enumerated() {
      #expect(number == c.transportNumbers[0] &+ UInt16(index))
    }
    // Feedback every 50 ms, reports about once a second.
    #expect(a.feedbackReports > 60)
    #expect(a.reportBlocks.contains { $0.ssrc == 10 && $0.cumulativeLost == 0 })
    #expect(server.core.dropped == SFUDropped())
    #expect(network.overduePolls == 0)
  }

  @Test func lossesOnTheWayUpAreRepairedOnceForAll() throws {
    let (network, server, a, _, c) = try makeCall()
    for index in 0..<100 {
      a.send(
        .video, sequence: UInt16(1000 + index), timestamp: UInt32(index) * 3000,
        losing: index % 10 == 5)
      network.run(for: .milliseconds(20))
    }
    network.run(for: .milliseconds(300))
    #expect(Set(a.nacked) == Set((0..<10).map { UInt16(1005 + $0 * 10) }))
    let packets = c.packets(of: a, .video).media
    #expect(packets.count == 100)
    // Repaired packets come late but in the numbers that were kept for them.
    let sorted = packets.sorted { $0.timestamp < $1.timestamp }
    for (index, packet) in sorted.enumerated() {
      #expect(packet.sequenceNumber == sorted[0].sequenceNumber &+ UInt16(index))
      #expect(packet.payload == ScriptedClient.payload(UInt16(1000 + index)))
      #expect(packet.orientation == .clockwise90)
    }
    // Reports tell what the network does: a repaired loss stays a loss.
    #expect(server.status(a)?.tracks.last?.packetsLost == 10)
  }

  @Test func subscribersAreServedRetransmissions() throws {
    let (network, server, a, _, c) = try makeCall()
    for index in 0..<50 {
      a.send(.video, sequence: UInt16(500 + index), timestamp: UInt32(index) * 3000)
      network.run(for: .milliseconds(10))
    }
    network.run(for: .milliseconds(100))
    let packets = c.packets(of: a, .video).media
    let ssrc = try #require(c.ssrc(of: a, .video))
    let wanted = [packets[3], packets[4], packets[20]].map(\.sequenceNumber)
    let missing = [packets[0].sequenceNumber &- 3]
    for _ in 0..<2 {
      // Asked twice within a round trip, answered once.
      c.sendRTCP { try $0.nack(sender: 1, media: ssrc, missing: wanted + missing) }
    }
    network.run(for: .milliseconds(100))
    let rtx = c.packets(of: a, .video).rtx
    #expect(rtx.count == 3)
    for (packet, number) in zip(rtx, wanted) {
      #expect(packet.payload.prefix(2) == [UInt8(number >> 8), UInt8(number & 255)])
      let original = try #require(packets.first { $0.sequenceNumber == number })
      #expect(Array(packet.payload.dropFirst(2)) == original.payload)
      #expect(packet.timestamp == original.timestamp)
      #expect(packet.orientation == .clockwise90)
      #expect(packet.mid == c.sections(of: a, .video)[0].mid)
    }
    let subscription = try #require(
      server.status(c)?.subscriptions.first { $0.kind == .video && $0.nacks > 0 })
    #expect(subscription.retransmissions == 3)
    #expect(subscription.retransmissionsMissing == 2)
  }

  @Test func keyFrameRequestsReachThePublisherAndAreThrottled() throws {
    let (network, _, a, b, c) = try makeCall()
    a.send(.video, sequence: 1, timestamp: 0)
    b.send(.video, sequence: 1, timestamp: 0)
    network.run(for: .seconds(2))
    let before = a.keyFrameRequests.count
    let ssrc = try #require(c.ssrc(of: a, .video))
    for _ in 0..<20 {
      c.sendRTCP { try $0.pictureLossIndication(sender: 1, media: ssrc) }
      network.run(for: .milliseconds(10))
    }
    network.run(for: .seconds(3))
    // At once, and once more for those that came while it was under way. None by themselves.
    #expect(a.keyFrameRequests.count - before == 2)
    #expect(a.keyFrameRequests.allSatisfy { $0 == 1111 })
    c.sendRTCP { try $0.fullIntraRequest(sender: 1, media: ssrc, sequenceNumber: 9) }
    c.sendRTCP { try $0.fullIntraRequest(sender: 1, media: ssrc, sequenceNumber: 9) }
    network.run(for: .seconds(2))
    #expect(a.keyFrameRequests.count - before == 3)
    #expect(b.keyFrameRequests.isEmpty || b.keyFrameRequests.count == 1)
  }

  @Test func aJoiningSubscriberMakesThePublisherSendAKeyFrame() throws {
    let (network, server, a, _, _) = try makeCall()
    a.send(.video, sequence: 1, timestamp: 0)
    network.run(for: .seconds(1))
    let before = a.keyFrameRequests.count
    let d = try ScriptedClient("d", 4, server).connect(.recvonly)
    #expect(network.run(until: { d.isConnected }, within: .seconds(3)))
    network.run(for: .milliseconds(500))
    #expect(a.keyFrameRequests.count == before + 1)
  }

  @Test func lossesThatNobodyRepairsAskForAKeyFrame() throws {
    let (network, _, a, _, _) = try makeCall()
    a.retransmits = false
    a.send(.video, sequence: 1, timestamp: 0)
    a.send(.video, sequence: 3, timestamp: 3000)
    network.run(for: .milliseconds(50))
    let before = a.keyFrameRequests.count
    network.run(for: .seconds(3))
    #expect(a.keyFrameRequests.count == before + 1)
    #expect(a.nacked.count > 2)
  }

  @Test func senderReportsKeepThePublishersClocks() throws {
    let (network, server, a, _, c) = try makeCall()
    a.send(.video, sequence: 1, timestamp: 90_000, ssrc: 10)
    a.send(.audio, sequence: 1, timestamp: 48_000, ssrc: 11)
    // Both media at one wall-clock time: 3.9 billion seconds after 1900.
    let ntp = NTPTime(rawValue: 3_900_000_000 << 32)
    for (ssrc, timestamp) in [(UInt32(10), UInt32(90_000)), (11, 48_000)] {
      a.sendRTCP {
        try $0.senderReport(
          RTCPSenderInfo(
            ssrc: ssrc, ntp: ntp, rtpTimestamp: timestamp, packetCount: 1, octetCount: 200))
      }
    }
    network.run(for: .seconds(4))
    for (kind, rate, timestamp) in [
      (MediaKind.video, 90_000.0, 90_000.0), (.audio, 48_000, 48_000),
    ] {
      let ssrc = try #require(c.ssrc(of: a, kind))
      let report = try #require(c.senderReports.last { $0.ssrc == ssrc })
      let first = try #require(c.packets(of: a, kind).media.first)
      // The offset of the subscriber's timestamps is random; what counts is the distance in time.
      let ticks = Double(report.rtpTimestamp &- first.timestamp)
      let seconds = Double(report.ntp.rawValue - ntp.rawValue) / 4_294_967_296
      #expect(abs(ticks / rate - seconds) < 0.001, "\(kind) \(timestamp)")
      #expect(report.packetCount == 1 && report.octetCount == 200)
      #expect(c.names[ssrc] == a.offer?.connectionID)
    }
    // The subscriber's reports give the server its round trip: 20 ms on these links.
    let video = try #require(c.ssrc(of: a, .video))
    let report = try #require(c.senderReports.last { $0.ssrc == video })
    c.sendRTCP {
      try $0.receiverReport(
        sender: 5,
        blocks: [RTCPReportBlock(ssrc: video, lastSenderReport: report.ntp.middle)])
    }
    network.run(for: .milliseconds(50))
    let trip = server.status(c)?.subscriptions.first { $0.roundTrip != nil }?.roundTrip
    // DLSR was said to be 0, so the time since the report counts as well.
    #expect((trip ?? .zero) >= .milliseconds(20))
  }

  @Test func aNewSourceOfThePublisherContinuesTheNumbers() throws {
    let (network, _, a, _, c) = try makeCall()
    for index in 0..<10 {
      a.send(.video, sequence: UInt16(index), timestamp: UInt32(index) * 3000, ssrc: 10)
      network.run(for: .milliseconds(33))
    }
    for index in 0..<10 {
      a.send(
        .video, sequence: UInt16(40_000 + index), timestamp: 5 + UInt32(index) * 3000, ssrc: 12)
      network.run(for: .milliseconds(33))
    }
    a.send(.video, sequence: 10, timestamp: 33_000, ssrc: 10)
    network.run(for: .milliseconds(100))
    let packets = c.packets(of: a, .video).media
    #expect(packets.count == 20)
    for (index, packet) in packets.enumerated() {
      #expect(packet.sequenceNumber == packets[0].sequenceNumber &+ UInt16(index))
      if index > 0 {
        let step = packet.timestamp &- packets[index - 1].timestamp
        #expect((2000...4000).contains(step))
      }
    }
  }

  @Test func mediaSurvivesBadLinks() throws {
    let (network, server, a, b, c) = try makeCall(
      LinkConditions(delay: .milliseconds(30), jitter: .milliseconds(10), loss: 0.02))
    for index in 0..<1500 {
      a.send(.video, sequence: UInt16(index), timestamp: UInt32(index) * 900, payloadCount: 900)
      b.send(.video, sequence: UInt16(index), timestamp: UInt32(index) * 900, payloadCount: 900)
      network.run(for: .milliseconds(10))
    }
    network.run(for: .seconds(1))
    #expect(server.status(a)?.tracks.last.map { $0.packets >= 1495 } == true)
    // What the last link loses is the subscriber's to ask for.
    #expect(c.packets(of: a, .video).media.count > 1430)
    #expect(network.overduePolls == 0)
  }

  @Test func IPv6CarriesACall() throws {
    let network = SimulatedNetwork(seed: 12)
    let server = try TestServer(network, addresses: ["10.0.0.1", "fd00::1"])
    let a = try ScriptedClient("a", 1, server, ip: "fd00::a").connect(.sendonly)
    let b = try ScriptedClient("b", 2, server).connect(.recvonly)
    #expect(network.run(until: { b.sections(of: a, .video).count == 1 }, within: .seconds(5)))
    network.run(for: .milliseconds(100))
    a.send(.video, sequence: 1, timestamp: 0)
    network.run(for: .milliseconds(100))
    #expect(b.packets(of: a, .video).media.count == 1)
    #expect(a.transport.ice.selectedPair?.remote.ip == IPAddress("fd00::1"))
  }
}
