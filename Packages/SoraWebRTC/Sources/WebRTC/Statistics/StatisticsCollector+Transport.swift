import Foundation
import SoraDTLS
import SoraICE
import SoraMedia
import SoraTransport

/// The transport, its certificates, its candidates and their pairs.
///
/// Members that aren't W3C's: `packetsDropped`, `packetsDroppedByReason`, `connectDurations`, `dtlsHandshakeDuration`,
/// `dtlsRetransmissions` and `dtlsRecordsDropped` of the transport.
extension StatisticsCollector {
  static let transportID = "transport"

  func transport() -> [RTCStatistics] {
    let pairs = path.ice.pairs
    let local = certificate(path.dtls.localCertificate)
    let remote = path.dtls.agreed.flatMap { certificate($0.remoteCertificate) }
    var values = transportValues(pairs.first { $0.isSelected })
    values["localCertificateId"] = local.map { .string($0.id) }
    values["remoteCertificateId"] = remote.map { .string($0.id) }
    addDTLS(&values)
    addOwn(&values)
    return [object(Self.transportID, "transport", values)] + [local, remote].compactMap { $0 }
      + candidates(of: pairs) + pairs.map(object)
  }

  private func transportValues(_ selected: ICEPairStatistics?) -> [String: RTCStatisticsValue?] {
    let s = path.statistics
    return [
      "packetsSent": .integer(s.packetsSent), "packetsReceived": .integer(s.packetsReceived),
      "bytesSent": .integer(s.packetBytesSent), "bytesReceived": .integer(s.packetBytesReceived),
      "iceState": .string(path.ice.state.rawValue),
      "iceRole": .string(path.ice.isControlling ? "controlling" : "controlled"),
      "iceLocalUsernameFragment": .string(path.ice.localUfrag),
      "selectedCandidatePairId": selected.map { .string(id($0)) },
      "selectedCandidatePairChanges": .integer(
        Int64(path.ice.selectedPairChanges)),
    ]
  }

  private func addDTLS(_ values: inout [String: RTCStatisticsValue?]) {
    values["dtlsState"] = .string(path.dtls.state.rawValue)
    values["dtlsRole"] = .string(path.dtls.statistics?.role.rawValue ?? "unknown")
    if let agreed = path.dtls.agreed {
      values["tlsVersion"] = .string(String(agreed.tlsVersion, radix: 16, uppercase: true))
      values["dtlsCipher"] = .string(agreed.cipherSuite)
      values["srtpCipher"] = .string(agreed.srtpProfile)
    }
    guard let dtls = path.dtls.statistics else { return }
    values["dtlsHandshakeDuration"] = dtls.handshakeDuration.map { .double($0.inSeconds) }
    values["dtlsRetransmissions"] = .integer(Int64(dtls.retransmissions))
    values["dtlsRecordsDropped"] = .integer(Int64(dtls.dropped.total))
  }

  private func addOwn(_ values: inout [String: RTCStatisticsValue?]) {
    values["packetsDropped"] = .integer(drops.reduce(0) { $0 &+ $1.count })
    values["packetsDroppedByReason"] = .record(
      Dictionary(drops.map { ($0.name, Double($0.count)) }, uniquingKeysWith: +))
    let timeline = core.timeline
    var durations = Dictionary(
      timeline.spans.map { ($0.phase.rawValue, $0.duration.inSeconds) }, uniquingKeysWith: +)
    durations["gathering"] = timeline.gathering?.inSeconds
    values["connectDurations"] = .record(durations)
  }

  // MARK: Certificates

  /// Both sides' are signed by themselves, so that there is no issuer to name.
  private func certificate(_ der: [UInt8]) -> RTCStatistics? {
    guard let fingerprint = try? DTLSFingerprint(of: der) else { return nil }
    let digits = fingerprint.description.dropFirst(fingerprint.algorithm.count + 1)
    return object(
      "certificate-\(digits)", "certificate",
      [
        "fingerprint": .string(String(digits)),
        "fingerprintAlgorithm": .string(fingerprint.algorithm),
        "base64Certificate": .string(Data(der).base64EncodedString()),
      ])
  }

  // MARK: Candidates

  /// Every candidate of both sides, also those of interfaces that are gone, and those that only a pair has left.
  private func candidates(of pairs: [ICEPairStatistics]) -> [RTCStatistics] {
    // A pair's candidate may be one that isn't signalled: with the policy "no host".
    let local =
      path.ice.gathered.map { ($0.candidate, $0.url) }
      + (path.ice.localCandidates + pairs.map(\.local)).map { ($0, nil as ICEServerURL?) }
    let remote = path.ice.remoteCandidates + pairs.map(\.remote)
    var known: Set<String> = []
    var result: [RTCStatistics] = []
    for (candidate, url) in local where known.insert(id("local", candidate)).inserted {
      var values = values(of: candidate)
      values["usernameFragment"] = .string(path.ice.localUfrag)
      values["url"] = url.map { .string("\($0)") }
      if candidate.type == .relay {
        values["relayProtocol"] = url.map { .string($0.relayProtocol) }
      }
      result.append(object(id("local", candidate), "local-candidate", values))
    }
    for candidate in remote where known.insert(id("remote", candidate)).inserted {
      var values = values(of: candidate)
      values["usernameFragment"] = (candidate.ufrag ?? path.ice.remoteUfrag).map {
        .string($0)
      }
      result.append(object(id("remote", candidate), "remote-candidate", values))
    }
    return result
  }

  private func values(of candidate: ICECandidate) -> [String: RTCStatisticsValue?] {
    [
      "transportId": .string(Self.transportID), "address": .string("\(candidate.address)"),
      "port": .integer(Int64(candidate.port)), "protocol": .string("\(candidate.transport)"),
      "candidateType": .string("\(candidate.type)"),
      "priority": .integer(Int64(candidate.priority)),
      "foundation": .string(candidate.foundation),
      "tcpType": candidate.tcpType.map { .string($0) },
      "relatedAddress": candidate.relatedAddress.map { .string("\($0.address)") },
      "relatedPort": candidate.relatedAddress?.port.map { .integer(Int64($0)) },
    ]
  }

  private func id(_ side: String, _ candidate: ICECandidate) -> String {
    "\(side)-\(candidate.type)-\(candidate.address)-\(candidate.port)"
  }

  // MARK: Pairs

  private func id(_ pair: ICEPairStatistics) -> String { "pair-\(pair.number)" }

  private func object(_ pair: ICEPairStatistics) -> RTCStatistics {
    let traffic = pair.traffic
    return object(
      id(pair), "candidate-pair",
      [
        "transportId": .string(Self.transportID),
        "localCandidateId": .string(id("local", pair.local)),
        "remoteCandidateId": .string(id("remote", pair.remote)),
        "state": .string(pair.state.rawValue), "nominated": .boolean(pair.isNominated),
        "priority": .integer(Int64(clamping: pair.priority)),
        "packetsSent": .integer(traffic.packetsSent),
        "packetsReceived": .integer(traffic.packetsReceived),
        "bytesSent": .integer(traffic.bytesSent), "bytesReceived": .integer(traffic.bytesReceived),
        "lastPacketSentTimestamp": traffic.lastPacketSent.map { .double(milliseconds($0)) },
        "lastPacketReceivedTimestamp": traffic.lastPacketReceived.map {
          .double(milliseconds($0))
        },
        "packetsDiscardedOnSend": .integer(traffic.packetsDiscardedOnSend),
        "totalRoundTripTime": .double(pair.totalRoundTripTime.inSeconds),
        "currentRoundTripTime": pair.currentRoundTripTime.map { .double($0.inSeconds) },
        "availableOutgoingBitrate": pair.isSelected
          ? .integer(Int64(core.session.estimatedBitrate)) : nil,
        "requestsSent": .integer(Int64(pair.requestsSent)),
        "requestsReceived": .integer(Int64(pair.requestsReceived)),
        "responsesSent": .integer(Int64(pair.responsesSent)),
        "responsesReceived": .integer(Int64(pair.responsesReceived)),
        "consentRequestsSent": .integer(Int64(pair.consentRequestsSent)),
      ])
  }
}
