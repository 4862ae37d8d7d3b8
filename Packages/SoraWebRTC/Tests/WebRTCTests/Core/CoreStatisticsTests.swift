import Foundation
import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing
import WebRTC

/// Statistics of a simulated call: W3C's objects, whose values move as they should and whose ids lead somewhere.
@Suite struct CoreStatisticsTests {
  /// The object that a member names.
  private func object(
    _ report: RTCStatisticsReport, _ id: String?
  ) throws -> RTCStatistics {
    try #require(id.flatMap { report.statistics[$0] })
  }

  private func call(seed: UInt64, lasting duration: Duration) throws -> CorePair {
    let pair = CorePair(seed: seed, LinkConditions(delay: .milliseconds(30)))
    try pair.negotiate()
    pair.network.run(for: duration)
    return pair
  }

  @Test func everyIdLeadsToAnObject() throws {
    let pair = CorePair(seed: 61, LinkConditions(delay: .milliseconds(30)))
    try pair.negotiate()
    // While checks run, while DTLS runs, and once reports have come.
    for wait in [.milliseconds(5), .milliseconds(80), .seconds(4)] as [Duration] {
      pair.network.run(for: wait)
      for party in [pair.caller, pair.callee] {
        let report = pair.report(of: party)
        for object in report.statistics.values {
          for (name, value) in object.values where name.hasSuffix("Id") {
            guard case .string(let id) = value else {
              Issue.record("\(object.id).\(name) is no text")
              continue
            }
            #expect(report.statistics[id] != nil, "\(object.id).\(name) = \(id)")
          }
        }
      }
    }
    // A restart leaves a pair in use whose candidates were taken back.
    pair.caller.core.restartICE(at: pair.network.now)
    let restarted = pair.report(of: pair.caller)
    let selected = try #require(restarted.all("candidate-pair").first)
    _ = try object(restarted, selected.text("remoteCandidateId"))
  }

  /// A peer that takes video with other payload types than it sends with (RFC 3264 §5.1).
  @Test func payloadTypesOfBothDirectionsAreThere() throws {
    let pair = CorePair(seed: 66, LinkConditions(delay: .milliseconds(30)))
    try pair.negotiate(from: pair.caller, to: pair.callee) { answer in
      answer.replacing("SAVPF 96 97", with: "SAVPF 100 101").replacing(":96 ", with: ":100 ")
        .replacing(":97 ", with: ":101 ").replacing("apt=96", with: "apt=100")
    }
    pair.network.run(for: .seconds(3))
    let report = pair.report(of: pair.caller)
    let video = { (object: RTCStatistics) in object.text("kind") == "video" }
    let sent = try object(
      report, try #require(report.all("outbound-rtp").first(where: video)).text("codecId"))
    let received = try object(
      report, try #require(report.all("inbound-rtp").first(where: video)).text("codecId"))
    #expect(sent.number("payloadType") == 100 && received.number("payloadType") == 96)
    #expect(sent.text("mimeType") == "video/VP8" && received.text("mimeType") == "video/VP8")
  }

  @Test func theTransportTellsHowItIsSecured() throws {
    let pair = try call(seed: 62, lasting: .seconds(2))
    let (one, two) = (pair.report(of: pair.caller), pair.report(of: pair.callee))
    let (a, b) = (
      try #require(one.all("transport").first), try #require(two.all("transport").first)
    )
    for transport in [a, b] {
      #expect(transport.text("dtlsState") == "connected")
      #expect(transport.text("tlsVersion") == "FEFD")
      #expect(transport.text("srtpCipher") == "SRTP_AEAD_AES_128_GCM")
      #expect(transport.text("dtlsCipher") == "SIMULATION_WITHOUT_SECURITY")
      #expect(transport.number("selectedCandidatePairChanges") == 1)
      #expect(transport.number("dtlsRetransmissions") == 0)
      #expect(try #require(transport.number("dtlsHandshakeDuration")) >= 0.06)
    }
    #expect(a.text("iceRole") == "controlling" && b.text("iceRole") == "controlled")
    #expect(Set([a.text("dtlsRole"), b.text("dtlsRole")]) == ["client", "server"])
    #expect(
      a.text("iceLocalUsernameFragment") == pair.caller.core.transport.ice.localParameters.ufrag)
    // Each side's own certificate is the other's remote one.
    #expect(a.text("localCertificateId") == b.text("remoteCertificateId"))
    #expect(a.text("remoteCertificateId") == b.text("localCertificateId"))
    #expect(one.all("certificate").count == 2)
    let own = try object(one, a.text("localCertificateId"))
    let certificate = pair.caller.core.transport.certificate
    #expect(own.text("fingerprintAlgorithm") == "sha-256")
    #expect("sha-256 \(own.text("fingerprint") ?? "")" == certificate.fingerprint.description)
    #expect(
      own.text("base64Certificate").flatMap { Data(base64Encoded: $0) }
        == Data(certificate.derBytes)
    )
    #expect(own.values["issuerCertificateId"] == nil)
  }

  @Test func countersGrowAndAgree() throws {
    let pair = try call(seed: 63, lasting: .seconds(2))
    let first = pair.report(of: pair.caller)
    pair.network.run(for: .seconds(2))
    let second = pair.report(of: pair.caller)
    let grows = [
      "packetsSent", "packetsReceived", "bytesSent", "bytesReceived", "lastPacketSentTimestamp",
      "lastPacketReceivedTimestamp", "responsesReceived", "totalRoundTripTime",
      "consentRequestsSent", "framesSent", "framesReceived", "headerBytesSent",
    ]
    var grown: Set<String> = []
    for (id, object) in second.statistics {
      guard let before = first.statistics[id] else { continue }
      #expect(object.timestamp_us == before.timestamp_us + 2_000_000)
      for name in grows {
        guard let old = before.number(name), let new = object.number(name) else { continue }
        #expect(new >= old, "\(id).\(name)")
        if new > old { grown.insert(name) }
      }
    }
    #expect(grown == Set(grows))
    let transport = try #require(second.all("transport").first)
    let pairs = second.all("candidate-pair")
    for name in ["packetsSent", "packetsReceived", "bytesSent", "bytesReceived"] {
      let sum = pairs.reduce(0) { $0 + ($1.number(name) ?? 0) }
      #expect(transport.number(name) == sum, "\(name)")
    }
    let selected = try object(second, transport.text("selectedCandidatePairId"))
    #expect(selected.values["nominated"] == .boolean(true))
    #expect(selected.text("state") == "succeeded")
    #expect(abs(try #require(selected.number("currentRoundTripTime")) - 0.06) < 0.001)
    #expect(try #require(selected.number("availableOutgoingBitrate")) > 100_000)
    // Milliseconds since 1970, not later than the report.
    let sent = try #require(selected.number("lastPacketSentTimestamp"))
    #expect(sent <= second.timestamp_us / 1_000 && sent > second.timestamp_us / 1_000 - 50)
    for candidate in second.all("local-candidate") {
      #expect(candidate.text("usernameFragment") == transport.text("iceLocalUsernameFragment"))
    }
    // Streams send less than the transport, whose packets are theirs, reports and the handshake.
    let streams = second.all("outbound-rtp").reduce(0) { $0 + ($1.number("packetsSent") ?? 0) }
    #expect(streams < transport.number("packetsSent") ?? 0)
  }

  /// What senders report, the tracks that are sent, and which object belongs to which.
  @Test func bothEndsOfAStreamAreDescribed() throws {
    let pair = try call(seed: 65, lasting: .seconds(6))
    let report = pair.report(of: pair.caller)
    let other = pair.report(of: pair.callee)
    #expect(report.inboundRTP.count == 2 && report.remoteOutboundRTP.count == 2)
    for inbound in report.inboundRTP {
      let remote = try #require(report.remoteOutboundRTP.first { $0.id == inbound.remoteId })
      #expect(remote.localId == inbound.id && remote.kind == inbound.kind)
      #expect(remote.ssrc == inbound.ssrc && remote.codecId == inbound.codecId)
      let sent = try #require(other.outboundRTP.first { $0.ssrc == inbound.ssrc })
      // The last report is at most 1.5 seconds old.
      #expect(remote.packetsSent > 0 && remote.packetsSent <= sent.packetsSent)
      #expect(remote.bytesSent > 0 && remote.bytesSent <= sent.bytesSent)
      #expect(remote.reportsSent >= 3)
      // Who sends media has round trips from reports about that.
      #expect(remote.roundTripTime == nil && remote.roundTripTimeMeasurements == 0)
      let told = try #require(remote.remoteTimestamp)
      #expect(abs(told.timeIntervalSince(inbound.timestamp)) < 3)
    }
    #expect(report.mediaSources.map(\.kind).count == 2)
    for outbound in report.outboundRTP {
      let source = try #require(report.mediaSources.first { $0.id == outbound.mediaSourceId })
      #expect(
        source.kind == outbound.kind && source.trackIdentifier == "caller-\(outbound.kind.rawValue)"
      )
    }
  }

  @Test func dropsAreToldByReasonInOnePlace() throws {
    let pair = try call(seed: 64, lasting: .seconds(1))
    var garbage: [UInt8] = [5, 6, 7]
    garbage.withUnsafeMutableBytes {
      pair.caller.core.receive(
        $0, from: pair.callee.address, on: pair.caller.address, at: pair.network.now)
    }
    let report = pair.report(of: pair.caller)
    #expect(report.packetDrops.contains(PacketDrop(.transport, "unknownProtocol", 1)))
    // Media began before the connection stood.
    #expect(report.packetDrops.contains { $0.name == "connection.framesNotSent" })
    let transport = try #require(report.all("transport").first)
    guard case .record(let counts)? = transport.values["packetsDroppedByReason"] else {
      Issue.record("no record")
      return
    }
    #expect(counts["transport.unknownProtocol"] == 1)
    #expect(counts.count == report.packetDrops.count)
    #expect(counts.values.reduce(0, +) == transport.number("packetsDropped"))
  }

  @Test func phasesAddUpToTheTotal() throws {
    let pair = CorePair(seed: 65, LinkConditions(delay: .milliseconds(30)))
    pair.network.run(for: .seconds(1))
    try pair.negotiate()
    pair.network.run(for: .seconds(3))
    for party in [pair.caller, pair.callee] {
      let report = pair.report(of: party)
      let timeline = report.timeline
      #expect(timeline.started == Instant.zero + .seconds(1))
      #expect(timeline.spans.map(\.phase) == [.negotiation, .checks, .dtls, .firstPacket])
      for (span, next) in zip(timeline.spans, timeline.spans.dropFirst()) {
        #expect(span.start + span.duration == next.start)
      }
      #expect(timeline.spans.reduce(Duration.zero) { $0 + $1.duration } == timeline.total)
      #expect(try #require(timeline[.checks]) >= .milliseconds(60))
      #expect(try #require(timeline[.dtls]) >= .milliseconds(60))
      // A picture every 33 ms, a sound every 20.
      #expect(try #require(timeline[.firstPacket]) <= .milliseconds(60))
      guard
        case .record(let durations)? = report.all("transport").first?.values["connectDurations"]
      else {
        Issue.record("no record")
        return
      }
      #expect(durations["checks"] == timeline[.checks]?.inSeconds)
      #expect(durations["gathering"] == timeline.gathering?.inSeconds)
    }
  }

  @Test func theEndShows() throws {
    let pair = try call(seed: 66, lasting: .seconds(1))
    pair.caller.core.close(at: pair.network.now)
    pair.network.deadlinesChanged()
    pair.network.run(for: .seconds(1))
    for party in [pair.caller, pair.callee] {
      let transport = try #require(pair.report(of: party).all("transport").first)
      #expect(transport.text("dtlsState") == "closed")
      #expect(transport.text("iceState") == "closed")
      #expect(transport.values["selectedCandidatePairId"] == nil)
      #expect(transport.text("dtlsRole") != "unknown")
    }
    let failed = CorePair(seed: 67, LinkConditions(delay: .milliseconds(30)))
    let idle = try #require(failed.report(of: failed.caller).all("transport").first)
    #expect(idle.text("dtlsState") == "new" && idle.text("dtlsRole") == "unknown")
  }
}
