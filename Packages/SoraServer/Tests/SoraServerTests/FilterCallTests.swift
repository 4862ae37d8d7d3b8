import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingMessages
import Testing

/// Forwarding filters in calls, packet by packet in virtual time.
struct FilterCallTests {
  private let network = SimulatedNetwork(seed: 33)

  private static func filter(_ text: String) throws -> ForwardingFilter {
    try ForwardingFilter.read(try JSONValue(parsing: text), path: "filter")
  }

  private static func kind(_ kind: String, _ more: String = "") -> String {
    #"{\#(more)"rules":[[{"field":"kind","operator":"is_in","values":["\#(kind)"]}]]}"#
  }

  /// Two publishers, Anna and Otto.
  private func publishers(_ server: TestServer) throws -> [ScriptedClient] {
    let all = try ["anna", "otto"].enumerated().map { index, name in
      try ScriptedClient(name, index + 1, server).connect(.sendonly) { $0.clientID = name }
    }
    #expect(network.run(until: { all.allSatisfy(\.isConnected) }, within: .seconds(5)))
    return all
  }

  /// One who says `connect` as it is on the wire.
  private func viewer(_ server: TestServer, _ members: String) throws -> ScriptedClient {
    let client = try ScriptedClient("viewer", 9, server)
    client.say(
      SFUMessage(
        parsing: #"{"type":"connect","role":"recvonly","channel_id":"room",\#(members)}"#))
    #expect(network.run(until: { client.isConnected }, within: .seconds(5)))
    network.run(for: .milliseconds(300))
    return client
  }

  /// What a viewer gets of a packet that each publisher sends of each kind: `anna audio`.
  private func got(
    _ viewer: ScriptedClient, _ publishers: [ScriptedClient], _ number: UInt16 = 1
  ) -> Set<String> {
    for publisher in publishers {
      for kind in [MediaKind.audio, .video] {
        publisher.send(kind, sequence: number, timestamp: UInt32(number) * 3000)
      }
    }
    network.deadlinesChanged()
    network.run(for: .milliseconds(200))
    var all: Set<String> = []
    for publisher in publishers {
      for kind in [MediaKind.audio, .video]
      where viewer.packets(of: publisher, kind).media.last?.payload
        == ScriptedClient.payload(number)
      {
        all.insert("\(publisher.name) \(kind.rawValue)")
      }
    }
    return all
  }

  @Test func anUpdateTakesThePlaceOfWhatHasItsName() throws {
    var filters = ForwardingFilters()
    let first = try Self.filter(Self.kind("video", #""name":"a","priority":1,"#))
    let second = try Self.filter(Self.kind("audio", #""name":"b","priority":2,"#))
    #expect(filters.create(second) == .done && filters.create(first) == .done)
    #expect(filters.all == [first, second])
    let later = try Self.filter(Self.kind("audio", #""name":"a","priority":3,"#))
    #expect(filters.update(later) == .done)
    #expect(filters.all == [second, later], "in the order of priorities")
    #expect(filters.forwards(.video, connectionID: "x", clientID: "y"))
    // The one without a name, too.
    let unnamed = try Self.filter(Self.kind("video"))
    #expect(filters.update(unnamed) == .unknownName && filters.all.count == 2)
    #expect(filters.create(unnamed) == .done)
    let named = try Self.filter(Self.kind("audio", #""name":"default","#))
    #expect(filters.update(named) == .done && filters.all == [second, later, named])
  }

  @Test func anUpdateInACallStopsOneMediumAndStartsTheOther() throws {
    let server = try TestServer(network)
    let all = try publishers(server)
    let client = try viewer(
      server, #""forwarding_filter":\#(Self.kind("video", #""name":"n","#))"#)
    #expect(got(client, all) == ["anna audio", "otto audio"])
    let update = try Self.filter(
      Self.kind("audio", #""name":"n","version":"7","metadata":{"k":[1]},"#))
    let id = try #require(client.offer?.connectionID)
    #expect(
      server.core.change(.update(update), channelID: "room", connectionID: id, at: network.now)
        == .done)
    network.deadlinesChanged()
    network.run(for: .milliseconds(500))
    #expect(got(client, all, 2) == ["anna video", "otto video"])
    #expect(
      client.events.map { "\($0.eventType) \($0.kind ?? "-")" }
        == ["forwarding.blocked audio", "forwarding.blocked audio"]
        + ["forwarding.allowed video", "forwarding.allowed video"])
    let listed = try #require(server.core.filters(channelID: "room"))
    #expect(listed.map(\.connectionID) == [id] && listed.map(\.filter) == [update])
    #expect(listed[0].filter.version == "7" && listed[0].filter.metadata == ["k": [1]])
  }

  @Test func whatIsAllowedAloneMayPass() throws {
    let server = try TestServer(network)
    let all = try publishers(server)
    let filter = """
      {"action":"allow","rules":[[{"field":"client_id","operator":"is_in","values":["anna"]},\
      {"field":"kind","operator":"is_in","values":["audio"]}],\
      [{"field":"client_id","operator":"is_not_in","values":["anna"]},\
      {"field":"kind","operator":"is_in","values":["video"]}]]}
      """
    let client = try viewer(server, #""forwarding_filter":\#(filter)"#)
    #expect(got(client, all) == ["anna audio", "otto video"])
    #expect(client.sections(of: all[0], .video).isEmpty)
    // Who comes later is matched, too.
    let late = try ScriptedClient("eve", 3, server).connect(.sendonly) { $0.clientID = "eve" }
    #expect(
      network.run(until: { client.sections(of: late, .video).count == 1 }, within: .seconds(5)))
    network.run(for: .milliseconds(300))
    #expect(got(client, all + [late], 2) == ["anna audio", "otto video", "eve video"])
  }

  /// The list has no order of its own: priorities have.
  @Test(arguments: [true, false]) func ofAListTheSmallestPriorityDecides(
    allowsFirst: Bool
  ) throws {
    let server = try TestServer(network)
    let all = try publishers(server)
    let anna = #"[[{"field":"client_id","operator":"is_in","values":["anna"]}]]"#
    let allow = #"{"name":"allow","action":"allow","priority":\#(allowsFirst ? 1 : 3),"#
    let block = Self.kind("video", #""name":"block","priority":2,"#)
    let client = try viewer(
      server, #""forwarding_filters":[\#(block),\#(allow)"rules":\#(anna)}]"#)
    let expected: Set<String> = allowsFirst ? ["anna audio", "anna video"] : ["anna audio"]
    #expect(got(client, all) == expected)
    let listed = server.core.filters(channelID: "room")?.map(\.filter.name)
    #expect(listed == (allowsFirst ? ["allow", "block"] : ["block", "allow"]))
    // One of it goes; the other stays.
    #expect(
      server.core.change(
        .delete(name: "allow"), channelID: "room", connectionID: client.offer?.connectionID,
        at: network.now) == .done)
    network.deadlinesChanged()
    network.run(for: .milliseconds(500))
    #expect(got(client, all, 2) == ["anna audio", "otto audio"])
  }

  /// The single one and those of the list are one list.
  @Test func bothFormsTogetherHoldAndNamesAreTheirOwn() throws {
    let server = try TestServer(network)
    let all = try publishers(server)
    let single = Self.kind("video")
    let client = try viewer(
      server,
      #""forwarding_filter":\#(single),"forwarding_filters":[\#(Self.kind("audio", #""name":"a","#))]"#
    )
    #expect(got(client, all).isEmpty && client.closed == nil)
    let other = try ScriptedClient("other", 8, server)
    other.say(
      SFUMessage(
        parsing: #"{"type":"connect","role":"recvonly","channel_id":"room","#
          + #""forwarding_filter":\#(single),"forwarding_filters":[\#(Self.kind("audio"))]}"#))
    network.run(for: .seconds(1))
    #expect(other.closed?.code == 4490)
    #expect(other.closed?.reason == "INVALID-FORWARDING-FILTERS: two have one name")
  }
}
