import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingMessages
import Testing

/// What a channel is told of those who stay, and of recordings, as it is on the wire.
struct ChannelNewsTests {
  private let network = SimulatedNetwork(seed: 78)

  private func json(_ output: SFUOutput) throws -> JSONValue {
    try #require(SignalingMessage(output) { _ in nil }).json
  }

  @Test func eachMinuteOfAConnectionIsTold() throws {
    let server = try TestServer(network)
    let a = try ScriptedClient("a", 1, server).connect(.sendonly) {
      $0.notifyMetadata = ["name": "robot"]
    }
    #expect(network.run(until: { a.isConnected }, within: .seconds(5)))
    network.run(for: .seconds(30))
    let b = try ScriptedClient("b", 2, server).connect(.recvonly)
    #expect(network.run(until: { b.isConnected }, within: .seconds(5)))
    network.run(for: .seconds(110))
    let names = [a, b].map { $0.offer?.connectionID ?? "" }
    let expected = [(names[0], 1), (names[1], 1), (names[0], 2)]
    for client in [a, b] {
      let updates = client.notifications.filter { $0.kind == SFUNotification.Kind.updated }
      #expect(updates.map { $0.peer.connectionID } == expected.map(\.0))
      #expect(updates.map(\.minutes) == expected.map(\.1))
    }
    let update = try #require(a.notifications.last)
    let session = try #require(server.core.sessionID(channelID: "room"))
    // Its metadata are told when they change.
    let text = """
      {"type":"notify","event_type":"connection.updated","timestamp":"2025-06-15T15:08:40.080000Z",\
      "role":"sendonly","session_id":"\(session)","client_id":"\(names[0])",\
      "bundle_id":"\(names[0])","connection_id":"\(names[0])","audio":true,"video":true,\
      "minutes":2,"channel_connections":2,"channel_sendrecv_connections":0,\
      "channel_sendonly_connections":1,"channel_recvonly_connections":1}
      """
    var literal = try JSONValue(parsing: text).objectValue ?? [:]
    var told = try json(.notify(update)).objectValue ?? [:]
    let timestamp = told.removeValue(forKey: "timestamp")?.stringValue ?? ""
    // 2 min after it was connected.
    #expect(timestamp.hasPrefix("2025-06-15T15:08:40."))
    literal["timestamp"] = nil
    #expect(told == literal)
  }

  @Test func recordingsAreTold() throws {
    let server = try TestServer(network)
    let a = try ScriptedClient("a", 1, server).connect(.sendonly)
    let elsewhere = try ScriptedClient("b", 2, server).connect(.sendonly, channel: "other")
    #expect(
      network.run(until: { a.isConnected && elsewhere.isConnected }, within: .seconds(5)))
    let session = try #require(server.core.sessionID(channelID: "room"))
    let recording = SFURecording(
      recordingID: "R", channelID: "room", sessionID: session,
      createdUnixNanoseconds: 1_750_000_000_123_456_789)
    // One of a session that is over is nobody's any more.
    var earlier = recording
    earlier.sessionID = "S"
    network.run(until: .zero + .seconds(6))
    for event in [SFURecordingEvent.started, .stopped] {
      server.core.tell(event, recording, at: network.now)
      server.core.tell(event, earlier, at: network.now)
    }
    network.run(for: .seconds(1))
    #expect(elsewhere.events.isEmpty)
    try #require(a.events.count == 2)
    for (event, name) in zip(a.events, ["recording.started", "recording.stopped"]) {
      let literal = """
        {"type":"notify","event_type":"\(name)","timestamp":"2025-06-15T15:06:46.000000Z",\
        "session_id":"\(session)","recording_id":"R"}
        """
      let (told, expected) = (try json(.event(event)), try JSONValue(parsing: literal))
      #expect(told == expected)
    }
    let reported = server.reports.compactMap { report -> SFURecordingEvent? in
      if case .recording(let event, _, _) = report { event } else { nil }
    }
    #expect(reported == [.started, .started, .stopped, .stopped])
  }

  @Test func whoIsToldNothingHearsOfNoRecording() throws {
    let server = try TestServer(network)
    let client = try ScriptedClient("a", 1, server)
    let request = ConnectMessage(role: .sendrecv, channelID: "room")
    let peer = try #require(client.peer)
    let asked = try #require(server.core.examine(request, of: peer, at: network.now))
    var grant = SFUGrant(settings: GrantSettings { $0.signalingNotify = false })
    grant.connectionID = asked.connectionID
    server.core.admit(request, grant, of: peer, at: network.now)
    network.run(for: .seconds(3))
    let session = try #require(server.core.sessionID(channelID: "room"))
    server.core.tell(
      .started,
      SFURecording(
        recordingID: "R", channelID: "room", sessionID: session, createdUnixNanoseconds: 0),
      at: network.now)
    network.run(for: .seconds(70))
    #expect(client.events.isEmpty && client.notifications.isEmpty)
  }
}
