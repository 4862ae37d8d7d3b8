import SoraMedia
import SoraWire

/// What feedback says packet by packet, in the order of their numbers: delays, trains, the rate of arrival, losses, marks and probes.
struct ReportedPackets {
  /// What one message said.
  struct Summary {
    var arrived = 0
    var lost = 0
    /// Reported with a mark of congestion.
    var marked = 0
    /// Times that over-use began.
    var overuses = 0
    /// From the packet's sending to the message and to its arrival, in nanoseconds; `.max` where nothing arrived. The latter is by two
    /// clocks.
    var shortestRound = Int64.max
    var shortestTrip = Int64.max
  }

  var delay = DelayTrend()
  var trains = TrainDispersion()
  var acknowledged = AcknowledgedRate()
  var loss = LossControl()
  var marks = MarkControl()
  var probes = ProbeEstimator()

  /// Takes a message.
  ///
  /// - Parameter isLimited: whether much less than the estimate is being sent.
  mutating func add(_ results: [PacketFeedback], isLimited: Bool, at now: Instant) -> Summary {
    var summary = Summary()
    for result in results {
      guard let arrival = result.arrivalTime else {
        loss.add(sequence: result.sequence, isLost: true)
        summary.lost += 1
        continue
      }
      loss.add(sequence: result.sequence, isLost: false)
      summary.arrived += 1
      summary.shortestRound = min(
        summary.shortestRound, now.nanoseconds(since: result.sendTime))
      summary.shortestTrip = min(
        summary.shortestTrip, arrival.nanoseconds(since: result.sendTime))
      if result.ecn == .congestionExperienced { summary.marked += 1 }
      if arrived(result, arrival.nanoseconds, isLimited) { summary.overuses += 1 }
    }
    return summary
  }

  /// Whether over-use begins with the packet.
  private mutating func arrived(
    _ result: PacketFeedback, _ arrival: Int64, _ isLimited: Bool
  ) -> Bool {
    let sent = result.sendTime.nanoseconds
    if let ecn = result.ecn { marks.add(ecn) }
    acknowledged.add(size: result.size, arrived: arrival, isApplicationLimited: isLimited)
    let isOverused = delay.arrived(sent: sent, at: arrival)
    if let cluster = result.probeCluster {
      probes.add(cluster: cluster, size: result.size, sent: sent, arrived: arrival)
    } else {
      trains.arrived(sent: sent, at: arrival)
    }
    return isOverused
  }
}
