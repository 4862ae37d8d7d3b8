import SoraNetworkSimulator
import SoraServer
import Testing

/// Of who has gone nothing more is told.
struct LastNewsTests {
  /// A minute ends with the last moment in which a client that never answers a ping could have.
  @Test func whoIsLostAtTheEndOfAMinuteIsNotUpdated() throws {
    let network = SimulatedNetwork(seed: 78)
    let server = try TestServer(network)
    let silent = try ScriptedClient("silent", 1, server)
    silent.answersPings = false
    silent.connect(.sendrecv)
    let other = try ScriptedClient("other", 2, server).connect(.sendrecv)
    #expect(network.run(until: { silent.isConnected && other.isConnected }, within: .seconds(5)))
    let id = try #require(silent.offer?.connectionID)
    network.run(for: .seconds(70))
    #expect(silent.closed?.reason == "PONG-TIMEOUT")
    let kinds = other.notifications.filter { $0.peer.connectionID == id }.map(\.kind)
    #expect(kinds.last == .destroyed)
    let reported = server.reports.compactMap { report -> SFUNotification.Kind? in
      guard case .connection(let report) = report, report.notification.peer.connectionID == id
      else { return nil }
      return report.notification.kind
    }
    #expect(reported == [.created, .destroyed])
  }
}
