import SoraMedia
import SoraTransport

/// What clients make a server hold: what its limits are about.
package struct SFUHoldings: Hashable {
  /// Clients, with and without a connection.
  package var clients = 0
  /// Connections, those that say goodbye included.
  package var connections = 0
  /// Tracks that clients have turned down, each of them as often as it was.
  package var refusedTracks = 0
  /// Sources that something is known of because they were sent, those of RTCP included.
  package var sentSources = 0

  package init(
    clients: Int = 0, connections: Int = 0, refusedTracks: Int = 0, sentSources: Int = 0
  ) {
    self.clients = clients
    self.connections = connections
    self.refusedTracks = refusedTracks
    self.sentSources = sentSources
  }
}

extension SFUCore {
  /// Connections that say goodbye count against no limit, and their clients may come again meanwhile. There are as many as there may be
  /// clients; beyond that the oldest go without.
  func limitGoodbyes(at now: Instant) {
    guard directory.all.count > configuration.maximumPeers else { return }
    let leaving = directory.all.filter(\.isLeaving)
    for connection in leaving.dropLast(configuration.maximumPeers) { release(connection, at: now) }
  }

  package var holdings: SFUHoldings {
    SFUHoldings(
      clients: clients.count, connections: directory.all.count,
      refusedTracks: directory.all.reduce(0) { $0 + $1.sections.refusedCount },
      sentSources: directory.all.reduce(0) { $0 + $1.transport.sentSourceCount })
  }
}
