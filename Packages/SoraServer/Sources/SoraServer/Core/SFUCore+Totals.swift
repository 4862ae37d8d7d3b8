import SoraTransport

/// A client's last statistics.
public struct SFUClientStatistics: Sendable, Hashable {
  public var channelID: String
  public var clientID: String
  public var connectionID: String
  /// When they came, in nanoseconds since 1970.
  public var unixNanoseconds: Int64
  /// An array of reports, as JSON.
  public var reports: [UInt8]
}

// What the whole server has done, and what its clients say of themselves.
extension SFUCore {
  /// With what connections have done that are there now.
  public var totals: SFUTotals {
    var totals = endedTotals
    totals.dropped += dropped
    for connection in connections { connection.add(to: &totals) }
    return totals
  }

  /// Connections that can carry media, and those that can't yet.
  var counters: (connected: Int, connecting: Int) {
    let all = connections
    let connected = all.count { $0.isConnected }
    return (connected, all.count - connected)
  }

  /// Connections that have sent statistics, in the order of their `connect`; of all channels where nothing is selected.
  public func clientStatistics(of selection: SFUSelection?) -> [SFUClientStatistics] {
    connections.compactMap { connection in
      guard selection.map(connection.isIn) ?? true, let time = connection.reports.receivedAt else {
        return nil
      }
      return SFUClientStatistics(
        channelID: connection.channel.id, clientID: connection.clientID,
        connectionID: connection.connectionID, unixNanoseconds: unixNanoseconds(at: time),
        reports: connection.reports.text)
    }
  }
}

extension SFUConnection {
  /// Puts what it has carried and dropped into the server's totals.
  func add(to totals: inout SFUTotals) {
    let carried = transport.statistics
    totals.packetsReceived += carried.datagramsReceived
    totals.packetsSent += carried.datagramsSent
    totals.bytesReceived += carried.bytesReceived
    totals.bytesSent += carried.bytesSent
    totals.dropped += allDropped
  }
}
