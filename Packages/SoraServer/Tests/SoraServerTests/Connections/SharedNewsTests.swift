import CSoraMallocCount
import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingMessages
import Testing

/// A channel tells everybody of everybody. What all are told is written once: a room of hundreds would stand still while it is written for
/// each.
struct SharedNewsTests {
  /// Hands on what a core gives out, and writes it as a server does.
  private final class Scribe: SFUCoreDelegate {
    private let server: TestServer
    /// What was written of each notification, for each who is told it.
    private(set) var written: [(notification: SFUNotification, message: WrittenMessage)] = []
    /// Allocations of writing since `countAnew`.
    private(set) var allocations = 0

    init(_ server: TestServer) {
      self.server = server
      server.core.delegate = self
    }

    func forget() {
      written = []
      allocations = 0
    }

    func core(_ core: SFUCore, sends output: SFUOutput, to peer: SFUPeerID, at now: Instant) {
      if case .notify(let notification) = output {
        let before = sora_malloc_count()
        let message = core.written(output)
        _ = message?.text.utf8.count
        allocations += Int(sora_malloc_count() - before)
        if let message { written.append((notification, message)) }
      }
      server.core(core, sends: output, to: peer, at: now)
    }

    func core(_ core: SFUCore, event: SFUEvent, at now: Instant) {
      server.core(core, event: event, at: now)
    }
  }

  private let network = SimulatedNetwork(seed: 79, retention: .digestOnly)

  private func join(_ server: TestServer, _ index: Int) throws -> ScriptedClient {
    let client = try ScriptedClient("c\(index)", index, server).connect(.recvonly)
    #expect(network.run(until: { client.isConnected }, within: .seconds(5)))
    network.run(for: .milliseconds(50))
    return client
  }

  @Test func aNewcomerIsWrittenOnceForAll() throws {
    let server = try TestServer(network)
    let scribe = Scribe(server)
    var clients = try (1...3).map { try join(server, $0) }
    scribe.forget()
    clients.append(try join(server, 4))
    let created = scribe.written.filter { $0.notification.kind == .created }
    #expect(created.count == 4)
    let first = try #require(created.first)
    #expect(created.allSatisfy { $0.message === first.message })
    let json = try JSONValue(parsing: first.message.text)
    #expect(json["connection_id"]?.stringValue == clients[3].offer?.connectionID)
    #expect(
      json["data"]?.arrayValue?.map { $0["connection_id"]?.stringValue }
        == clients.prefix(3).map { $0.offer?.connectionID })
    // The next one is another's.
    scribe.forget()
    clients.append(try join(server, 5))
    let next = scribe.written.filter { $0.notification.kind == .created }
    #expect(next.count == 5 && next.allSatisfy { $0.message !== first.message })
    for client in clients {
      #expect(
        client.notifications.last { $0.kind == .created }?.peer.connectionID
          == clients[4].offer?.connectionID)
    }
  }

  /// Twice as many members are twice as many names, and not four times as much to write.
  @Test(
    .enabled(if: sora_malloc_count_is_telling() != 0, "the counts are those of optimized code"))
  func whatANewcomerCostsGrowsWithTheRoom() throws {
    let server = try TestServer(network)
    let scribe = Scribe(server)
    var clients: [ScriptedClient] = []
    var costs: [Int] = []
    for size in [15, 30] {
      while clients.count < size { clients.append(try join(server, clients.count + 1)) }
      scribe.forget()
      clients.append(try join(server, clients.count + 1))
      costs.append(scribe.allocations)
    }
    print("allocations of writing of a newcomer among 15 and 30: \(costs)")
    #expect(costs[1] < costs[0] * 3)
  }
}
