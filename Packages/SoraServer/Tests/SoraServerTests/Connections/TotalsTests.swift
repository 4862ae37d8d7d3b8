import SoraMedia
import SoraNetworkSimulator
import SoraServer
import Testing

/// What a server counts outlives its connections.
struct TotalsTests {
  @Test func totalsNeverFall() throws {
    let network = SimulatedNetwork(seed: 12)
    let server = try TestServer(network) { $0.keepsClientStatistics = true }
    let clients = try (1...2).map { try ScriptedClient("c\($0)", $0, server).connect(.sendrecv) }
    #expect(network.run(until: { clients.allSatisfy(\.isConnected) }, within: .seconds(5)))
    for number in 1...20 {
      clients[0].send(.video, sequence: UInt16(number), timestamp: 1)
      clients[0].say(.other("what"))
      network.run(for: .milliseconds(20))
    }
    let before = server.core.totals
    #expect(before.connections == 2 && before.packetsReceived > 20)
    #expect(before.bytesSent > 0 && before.dropped["unknownAddress"] != nil)
    clients[0].say(.statistics([["id": "a"]]))
    network.run(for: .seconds(1))
    #expect(server.core.clientStatistics(of: nil).count == 1)
    #expect(server.core.clientStatistics(of: .init(channelID: "other")).isEmpty)
    for client in clients { client.say(.disconnect(reason: nil)) }
    network.run(for: .seconds(2))
    let after = server.core.totals
    #expect(server.core.status.isEmpty && server.core.clientStatistics(of: nil).isEmpty)
    #expect(after.connections == 2 && after.refusals == 0)
    #expect(after.packetsReceived >= before.packetsReceived && after.bytesSent >= before.bytesSent)
    for (reason, count) in before.dropped { #expect((after.dropped[reason] ?? 0) >= count) }
    #expect(after.dropped["unexpectedMessage"] == 20)
  }
}
