import SoraMedia
import SoraNetworkSimulator
import SoraServer
import Testing

/// What a server counts outlives its connections.
struct TotalsTests {
  /// Nothing that is counted is left out of sums and metrics.
  @Test func eachDropHasAName() {
    let fields = Mirror(reflecting: SFUDropped()).children.compactMap(\.label)
    let names = SFUDropped.reasons.map { $0.name.replacing("_", with: "") }
    #expect(names == fields.map { $0.lowercased() })
    #expect(Set(SFUDropped.reasons.map { $0.count as AnyKeyPath }).count == fields.count)
  }

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
    #expect(before.bytesSent > 0 && before.dropped.malformedRTP == 0)
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
    #expect(after.dropped.unexpectedMessage == 20)
  }
}
