import SoraDTLS
import SoraICE
import SoraMedia
import SoraTransport

/// The transport, its candidates and their pairs.
extension StatisticsCollector {
  private var path: PeerTransport { driver.core.transport }

  func transport() -> [RTCStatistics] {
    let s = path.statistics
    let selected = path.ice.pairStatistics.first { $0.isSelected }
    return [
      object(
        "transport", "transport",
        [
          "packetsSent": .integer(s.datagramsSent),
          "packetsReceived": .integer(s.datagramsReceived),
          "bytesSent": .integer(s.bytesSent), "bytesReceived": .integer(s.bytesReceived),
          "iceState": .string(path.ice.state.rawValue),
          "iceRole": .string(path.ice.isControlling ? "controlling" : "controlled"),
          "iceLocalUsernameFragment": .string(path.ice.localParameters.ufrag),
          "dtlsState": .string(path.session == nil ? "new" : "connected"),
          "tlsVersion": path.session.map {
            .string(String($0.tlsVersion, radix: 16, uppercase: true))
          },
          "dtlsCipher": path.session.map { .string($0.cipherSuite) },
          "srtpCipher": path.session.map { .string($0.profile.name) },
          "selectedCandidatePairId": selected.map { .string(pairID($0)) },
          "selectedCandidatePairChanges": .integer(
            Int64(path.ice.statistics.selectedCandidatePairChanges)),
        ])
    ]
  }

  // MARK: Candidates

  /// Every candidate of both sides, also those of interfaces that are gone.
  func candidates() -> [RTCStatistics] {
    var result: [RTCStatistics] = []
    // A pair's candidate may be one that isn't signalled: with the policy "no host".
    let unsignalled = path.ice.localCandidates.filter { candidate in
      !path.gathered.contains { $0.candidate == candidate }
    }.map { ($0, nil as ICEServerURL?) }
    for (candidate, url) in path.gathered.map({ ($0.candidate, $0.url) }) + unsignalled {
      result.append(
        object(
          id("local", candidate), "local-candidate",
          values(of: candidate).merging(
            [
              "url": url.map { .string("\($0)") },
              "relayProtocol": candidate.type == .relay
                ? url.map { .string($0.relayProtocol) } : nil,
            ]) { $1 }))
    }
    for candidate in path.ice.remoteCandidates {
      result.append(object(id("remote", candidate), "remote-candidate", values(of: candidate)))
    }
    return result
  }

  private func values(of candidate: ICECandidate) -> [String: RTCStatisticsValue?] {
    [
      "transportId": .string("transport"), "address": .string("\(candidate.address)"),
      "port": .integer(Int64(candidate.port)), "protocol": .string("\(candidate.transport)"),
      "candidateType": .string("\(candidate.type)"),
      "priority": .integer(Int64(candidate.priority)),
      "foundation": .string(candidate.foundation),
      "relatedAddress": candidate.relatedAddress.map { .string("\($0.address)") },
      "relatedPort": candidate.relatedAddress?.port.map { .integer(Int64($0)) },
      "usernameFragment": candidate.ufrag.map { .string($0) },
    ]
  }

  private func id(_ side: String, _ candidate: ICECandidate) -> String {
    "\(side)-\(candidate.type)-\(candidate.address)-\(candidate.port)"
  }

  // MARK: Pairs

  private func pairID(_ pair: ICEPairStatistics) -> String {
    "pair-\(id("", pair.local))\(id("", pair.remote))"
  }

  /// Every pair; what the transport has carried is said of the one in use.
  func pairs() -> [RTCStatistics] {
    let s = path.statistics
    return path.ice.pairStatistics.map { pair in
      var values: [String: RTCStatisticsValue?] = [
        "transportId": .string("transport"), "localCandidateId": .string(id("local", pair.local)),
        "remoteCandidateId": .string(id("remote", pair.remote)),
        "state": .string(pair.state.rawValue), "nominated": .boolean(pair.isNominated),
        "priority": .integer(Int64(clamping: pair.priority)),
        "totalRoundTripTime": .double(pair.totalRoundTripTime.inSeconds),
        "requestsSent": .integer(Int64(pair.requestsSent)),
        "requestsReceived": .integer(Int64(pair.requestsReceived)),
        "responsesSent": .integer(Int64(pair.responsesSent)),
        "responsesReceived": .integer(Int64(pair.responsesReceived)),
        "consentRequestsSent": .integer(Int64(pair.consentRequestsSent)),
        "currentRoundTripTime": pair.currentRoundTripTime.map { .double($0.inSeconds) },
      ]
      if pair.isSelected {
        values["availableOutgoingBitrate"] = .integer(
          Int64(driver.core.session.estimatedBitrate))
        values["bytesSent"] = .integer(s.bytesSent)
        values["bytesReceived"] = .integer(s.bytesReceived)
        values["packetsSent"] = .integer(s.datagramsSent)
        values["packetsReceived"] = .integer(s.datagramsReceived)
      }
      return object(pairID(pair), "candidate-pair", values)
    }
  }
}
