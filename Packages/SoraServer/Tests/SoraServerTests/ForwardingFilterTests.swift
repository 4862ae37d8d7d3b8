import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingMessages
import Testing

/// What filters keep from a connection.
@Suite struct ForwardingFilterTests {
  private static func filter(_ text: String) throws -> ForwardingFilter {
    try ForwardingFilter.read(try JSONValue(parsing: text), path: "filter")
  }

  @Test func theFirstThatMatchesDecides() throws {
    var filters = ForwardingFilters()
    #expect(filters.forwards(.video, connectionID: "a", clientID: "c"))
    #expect(
      filters.create(
        try Self.filter(
          #"{"action":"block","rules":[[{"field":"kind","operator":"is_in","values":["video"]},{"field":"client_id","operator":"is_not_in","values":["c"]}]]}"#
        )) == .done)
    #expect(filters.forwards(.video, connectionID: "a", clientID: "c"))
    #expect(!filters.forwards(.video, connectionID: "a", clientID: "d"))
    #expect(filters.forwards(.audio, connectionID: "a", clientID: "d"))
    let allow = try Self.filter(
      #"{"name":"n","priority":1,"action":"allow","rules":[[{"field":"connection_id","operator":"is_in","values":["a"]}]]}"#
    )
    #expect(filters.create(allow) == .done && filters.create(allow) == .nameTaken)
    #expect(filters.forwards(.video, connectionID: "a", clientID: "d"), "it is asked first")
    #expect(!filters.forwards(.audio, connectionID: "b", clientID: "d"), "others aren't allowed")
    #expect(filters.delete(name: "n") == .done && filters.delete(name: "n") == .unknownName)
    #expect(filters.update(allow) == .unknownName)
  }

  @Test func tracksComeAndGoWithFilters() throws {
    let network = SimulatedNetwork(seed: 3)
    let server = try TestServer(network)
    let a = try ScriptedClient("a", 1, server).connect(.sendonly) { $0.clientID = "anna" }
    let filter = try Self.filter(
      #"{"rules":[[{"field":"kind","operator":"is_in","values":["video"]}]]}"#)
    let b = try ScriptedClient("b", 2, server)
      .connect(.recvonly) { $0.forwardingFilter = filter }
    let c = try ScriptedClient("c", 3, server).connect(.recvonly)
    #expect(
      network.run(
        until: { b.sections(of: a, .audio).count == 1 && c.sections(of: a, .video).count == 1 },
        within: .seconds(5)))
    network.run(for: .milliseconds(300))
    #expect(b.sections(of: a, .video).isEmpty)
    let id = try #require(b.offer?.connectionID)
    let change = { (change: SFUFilterChange, connection: String?) in
      let outcome = server.core.change(
        change, channelID: "room", connectionID: connection, at: network.now)
      network.deadlinesChanged()
      network.run(for: .milliseconds(300))
      return outcome
    }
    #expect(change(.delete(name: nil), id) == .done)
    #expect(b.sections(of: a, .video).count == 1)
    #expect(b.events.map(\.eventType) == ["forwarding.allowed"])
    #expect(b.events.last?.kind == "video" && b.events.last?.destinationConnectionID == id)
    let all = try Self.filter(
      #"{"name":"x","rules":[[{"field":"client_id","operator":"is_in","values":["anna"]}]]}"#)
    #expect(change(.create(all), nil) == .done && change(.create(all), nil) == .nameTaken)
    for client in [b, c] {
      #expect(client.sections(of: a, .video).isEmpty && client.sections(of: a, .audio).isEmpty)
      #expect(
        client.events.suffix(2).map(\.eventType) == .init(repeating: "forwarding.blocked", count: 2)
      )
    }
    #expect(server.core.filters(channelID: "room")?.map(\.filter) == [all])
    #expect(change(.delete(name: "y"), nil) == .unknownName)
    #expect(change(.delete(name: "x"), "nobody") == .unknownOwner)
    #expect(change(.delete(name: "x"), nil) == .done)
    #expect(c.sections(of: a, .video).count == 1 && b.sections(of: a, .audio).count == 1)
    a.send(.video, sequence: 1, timestamp: 1)
    network.run(for: .milliseconds(100))
    #expect(c.packets(of: a, .video).media.count == 1)
  }
}
