public import SoraWire

extension ICEAgent {
  /// A snapshot of every pair, for statistics.
  public var pairStatistics: [ICEPairStatistics] {
    var all = generation.checklist.pairs
    let selected = selection.pair
    if let selected, !all.contains(where: { $0 === selected }) { all.append(selected) }
    return all.map { pair in
      let record = pair.record
      return ICEPairStatistics(
        number: pair.number, local: locals.end(of: pair), remote: pair.remote.candidate,
        state: pair.state,
        isNominated: pair.isNominated, isSelected: pair === selected, priority: pair.priority,
        requestsSent: record.requestsSent, requestsReceived: record.requestsReceived,
        responsesSent: record.responsesSent, responsesReceived: record.responsesReceived,
        consentRequestsSent: record.consentRequestsSent,
        currentRoundTripTime: record.currentRoundTripTime,
        totalRoundTripTime: record.totalRoundTripTime, mappedAddress: pair.mappedAddress,
        traffic: pair.meter.traffic)
    }
  }

  /// What counts the traffic between a base of ours and an address of the peer's; nil where they aren't a pair. It may be kept
  /// until `pairsVersion` changes.
  public func meter(on local: TransportAddress, from remote: TransportAddress) -> ICEPairMeter? {
    if let selected = selection.pair, selected.connects(local, remote) { return selected.meter }
    return generation.checklist.pair(from: local, to: remote)?.meter
  }
}
