import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingMessages
import SoraTransport
import Testing
import WebRTC

/// Signaling, messages and calls over data channels, between whole clients and the server.
@Suite struct DataChannelTests {
  private typealias Options = DataChannelOptions

  /// One label, both ways.
  private static func label(
    _ label: String, _ direction: DataChannelDirection = .sendrecv,
    _ change: (inout Options) -> Void = { _ in }
  ) -> Options {
    Options(label: label) {
      $0.direction = direction
      change(&$0)
    }
  }

  private func makeRoom(_ seed: UInt64) throws -> (SimulatedNetwork, Room) {
    let network = SimulatedNetwork(seed: seed, retention: .everything)
    return (network, try Room(network, network.addHost("server", "10.0.0.1")))
  }

  private func join(
    _ room: Room, _ number: Int, _ labels: [Options] = [], ignores: Bool = false,
    hasMedia: Bool = false, delay: Duration = .milliseconds(20), loss: Double = 0,
    _ change: @escaping (inout ConnectMessage) -> Void = { _ in }
  ) throws -> SimulatedClient {
    try room.join(
      "client\(number)", number, role: .sendrecv, LinkConditions(delay: delay, loss: loss)
    ) {
      $0.dataChannelSignaling = true
      $0.ignoreDisconnectWebSocket = ignores
      $0.dataChannels = labels
      if !hasMedia {
        $0.audio = .disabled
        $0.video = .disabled
      }
      change(&$0)
    }
  }

  /// Nothing went wrong on either side.
  private func expectNoErrors(_ clients: [SimulatedClient]) {
    for client in clients {
      #expect(client.errors.isEmpty && client.channels.errors.isEmpty, "\(client.name)")
    }
  }

  // MARK: Signaling

  /// Whoever comes and goes later is offered over the channel, with the WebSocket and without.
  @Test(arguments: [(1, false, 0), (2, true, 0), (3, true, 0.03)] as [(UInt64, Bool, Double)])
  func offersGoOverDataChannels(seed: UInt64, ignores: Bool, loss: Double) throws {
    let (network, room) = try makeRoom(seed)
    let first = try join(room, 1, ignores: ignores, hasMedia: true, loss: loss)
    first.startMedia()
    #expect(network.run(until: { first.channels.isSwitched }, within: .seconds(3)))
    #expect(Set(first.channels.ids.keys) == ["signaling", "notify", "push", "stats", "rpc"])
    let second = try join(room, 2, ignores: ignores, hasMedia: true, loss: loss)
    second.startMedia()
    #expect(
      network.run(
        until: {
          [first, second].allSatisfy { $0.reception.values.contains { $0.frames > 60 } }
        }, within: .seconds(20)))
    #expect(first.notes.map(\.eventType) == ["connection.created"])
    #expect(first.notes.first?.channelConnections == 2)
    #expect(first.channels.log.contains("signaling"))
    // Statistics are asked for, and nobody is lost for want of a pong.
    network.run(for: .seconds(90))
    #expect(first.channels.log.contains("stats") && first.closed == nil)
    #expect(room.server.core.push(["a": 1], to: .init(channelID: "room"), at: network.now) == 2)
    network.run(for: .seconds(1))
    #expect(first.pushes == [["a": 1]])
    // It says goodbye on the channel; the channels close, and the others hear of it.
    second.disconnect()
    network.run(for: .seconds(1))
    #expect(second.channels.ids.isEmpty && second.lastWord == nil)
    #expect((second.closed == .init(code: 1000, reason: "TYPE-DISCONNECT")) == !ignores)
    #expect(room.server.core.status.count == 1)
    #expect(first.notes.last?.eventType == "connection.destroyed" && first.streams.isEmpty)
    expectNoErrors([first, second])
  }

  /// The end of the WebSocket ends the connection where the client hasn't asked to outlive it, or hasn't switched.
  @Test(arguments: [true, false]) func theWebSocketsEnd(switches: Bool) throws {
    let (network, room) = try makeRoom(4)
    let client = try join(room, 1, ignores: false, hasMedia: true)
    #expect(
      network.run(
        until: { switches ? client.channels.isSwitched : client.state == .connected },
        within: .seconds(3)))
    client.loseSignaling()
    network.run(for: .seconds(1))
    #expect(room.server.core.status.isEmpty)
    #expect(client.lastWord == (switches ? "WEBSOCKET-CLOSED" : nil))
    expectNoErrors([client])
  }

  /// The server says why before the channels close.
  @Test(arguments: [true, false]) func theServerEndsAConnection(ignores: Bool) throws {
    let (network, room) = try makeRoom(5)
    let client = try join(room, 1, [Self.label("#a")], ignores: ignores)
    #expect(network.run(until: { client.channels.isSwitched }, within: .seconds(3)))
    network.run(for: .milliseconds(200))
    #expect(room.server.core.disconnect(.init(channelID: "room"), at: network.now) == 1)
    network.run(for: .seconds(1))
    #expect(client.lastWord == (ignores ? "DISCONNECTED-API" : nil))
    #expect(client.channels.ids.isEmpty)
    #expect((client.closed == .init(code: 1000, reason: "DISCONNECTED-API")) == !ignores)
    if ignores {
      let log = client.channels.log
      #expect(try #require(log.lastIndex(of: "signaling")) < #require(log.firstIndex(of: "-#a")))
    }
    // What is left of the connection goes with the moment that it has.
    network.run(for: .seconds(5))
    #expect(room.server.core.nextDeadline == nil)
  }

  /// A lifetime ends with a word over the channel where there is no WebSocket any more.
  @Test(arguments: [true, false]) func aLifetimeEnds(ignores: Bool) throws {
    let (network, room) = try makeRoom(17)
    room.server.grant = SFUGrant(settings: GrantSettings { $0.connectionLifetime = 4 })
    let client = try join(room, 1, ignores: ignores)
    #expect(network.run(until: { client.channels.isSwitched }, within: .seconds(3)))
    #expect(network.run(until: { room.server.core.channelIDs.isEmpty }, within: .seconds(5)))
    network.run(for: .seconds(1))
    #expect(client.lastWord == (ignores ? "LIFETIME-EXPIRED" : nil))
    #expect(client.channels.ids.isEmpty)
    #expect((client.closed == .init(code: 1000, reason: "LIFETIME-EXPIRED")) == !ignores)
    network.run(for: .seconds(5))
    #expect(room.server.core.nextDeadline == nil)
  }

  /// A client that answers nothing more is let go of all the same.
  @Test func aSilentClientIsLetGoOf() throws {
    let (network, room) = try makeRoom(6)
    let client = try join(room, 1, ignores: true)
    #expect(network.run(until: { client.channels.isSwitched }, within: .seconds(3)))
    client.vanish()
    _ = room.server.core.disconnect(.init(channelID: "room"), at: network.now)
    network.run(for: .seconds(5))
    #expect(room.server.core.nextDeadline == nil && room.server.core.channelIDs.isEmpty)
  }

  /// Who doesn't ask for channels has no section for them, and malformed words on one end their own connection alone.
  @Test func channelsAreForThoseWhoAsk() throws {
    let (network, room) = try makeRoom(7)
    let plain = try room.join(
      "plain", 1, role: .sendrecv, LinkConditions(delay: .milliseconds(5)))
    let client = try join(room, 2, ignores: true)
    #expect(network.run(until: { client.channels.isSwitched }, within: .seconds(3)))
    #expect(plain.core.remoteDescription?.contains("m=application") == false)
    #expect(plain.state == .connected && plain.channels.ids.isEmpty)
    client.channels.send(Array("{\"type\":".utf8), on: "signaling", at: network.now)
    network.run(for: .seconds(2))
    #expect(client.lastWord?.hasPrefix("INVALID-MESSAGE") == true)
    #expect(room.server.core.status.map(\.role) == [.sendrecv])
    #expect(plain.state == .connected && plain.closed == nil)
  }

  // MARK: Messages

  /// Numbered messages of each reach all others, whole and in order, with loss.
  @Test(arguments: [(11, true), (12, false)] as [(UInt64, Bool)])
  func messagesReachTheOthers(seed: UInt64, hasMedia: Bool) throws {
    let (network, room) = try makeRoom(seed)
    let clients = try (1...3).map {
      try join(room, $0, [Self.label("#chat")], hasMedia: hasMedia, loss: 0.03)
    }
    if hasMedia { for client in clients { client.startMedia() } }
    #expect(
      network.run(
        until: { clients.allSatisfy { $0.channels.isSwitched } }, within: .seconds(10)))
    func payload(_ sender: Int, _ number: Int) -> [UInt8] {
      [UInt8(sender), UInt8(number)] + [UInt8](repeating: UInt8(number), count: number * 97)
    }
    for number in 0..<50 {
      for (index, client) in clients.enumerated() {
        client.channels.send(payload(index, number), on: "#chat", at: network.now)
      }
      network.run(for: .milliseconds(50))
    }
    #expect(
      network.run(
        until: { clients.allSatisfy { $0.channels.messages.count == 100 } }, within: .seconds(20)))
    for (index, client) in clients.enumerated() {
      for sender in 0..<3 where sender != index {
        let received = client.channels.messages.filter { $0.payload.first == UInt8(sender) }
        #expect(received.map(\.payload) == (0..<50).map { payload(sender, $0) })
      }
    }
    if hasMedia {
      #expect(clients.allSatisfy { $0.reception.values.contains { $0.frames > 30 } })
    }
    expectNoErrors(clients)
  }

  /// Directions, headers, compression and bundles are each receiver's own.
  @Test func eachReceivesAsItAskedTo() throws {
    let (network, room) = try makeRoom(13)
    let header: (inout Options) -> Void = { $0.header = [DataChannelHeader()] }
    let sender = try join(room, 1, [Self.label("#a")]) { $0.bundleID = "one" }
    let plain = try join(room, 2, [Self.label("#a", .recvonly)])
    let named = try join(room, 3, [Self.label("#a", .recvonly, header)])
    let packed = try join(
      room, 4,
      [
        Self.label("#a") {
          $0.compress = true
          header(&$0)
        }
      ])
    packed.channels.compressed.insert("#a")
    let mute = try join(room, 5, [Self.label("#a", .sendonly)])
    let other = try join(room, 6, [Self.label("#b")])
    let bundled = try join(room, 7, [Self.label("#a")]) { $0.bundleID = "one" }
    let all = [sender, plain, named, packed, mute, other, bundled]
    #expect(
      network.run(until: { all.allSatisfy { $0.channels.isSwitched } }, within: .seconds(5)))
    sender.channels.send(Array("hello".utf8), isText: true, on: "#a", at: network.now)
    packed.channels.send(Array("packed".utf8), on: "#a", at: network.now)
    // It may not say anything.
    plain.channels.send(Array("no".utf8), on: "#a", at: network.now)
    network.run(for: .seconds(1))
    let ids = room.server.core.status.map(\.connectionID)
    func texts(_ client: SimulatedClient) -> Set<String> {
      Set(client.channels.messages.map(\.text))
    }
    #expect(texts(sender) == ["packed"] && texts(bundled) == ["packed"])
    #expect(texts(plain) == ["hello", "packed"])
    #expect(plain.channels.messages.first { $0.text == "hello" }?.isText == true)
    #expect(texts(named) == [ids[0] + "hello", ids[3] + "packed"])
    #expect(texts(packed) == [ids[0] + "hello"])
    #expect(texts(mute).isEmpty && texts(other).isEmpty)
    expectNoErrors(all)
  }

  /// A message that can't be inflated, or would be too large, costs nobody anything.
  @Test func damagedMessagesAreDropped() throws {
    let (network, room) = try makeRoom(14)
    let packed = Self.label("#a") { $0.compress = true }
    let sender = try join(room, 1, [packed])
    let receiver = try join(room, 2, [Self.label("#a")])
    #expect(
      network.run(
        until: { [sender, receiver].allSatisfy { $0.channels.isSwitched } }, within: .seconds(5)))
    sender.channels.send(Array("as it is".utf8), on: "#a", at: network.now)
    sender.channels.compressed = ["#a"]
    sender.channels.send([UInt8](repeating: 0, count: 1 << 20), on: "#a", at: network.now)
    sender.channels.send(Array("good".utf8), on: "#a", at: network.now)
    network.run(for: .seconds(1))
    #expect(receiver.channels.messages.map(\.text) == ["good"])
    #expect(room.server.core.status.first?.dropped.malformedDataMessage == 2)
  }

  @Test func talkRunsTheSameWayTwice() throws {
    func run() throws -> [String] {
      let (network, room) = try makeRoom(15)
      let clients = try (1...2).map {
        try join(room, $0, [Self.label("#a")], hasMedia: true, loss: 0.05)
      }
      network.run(for: .seconds(10))
      for number in 0..<100 {
        for client in clients { client.channels.send([UInt8(number)], on: "#a", at: network.now) }
        network.run(for: .milliseconds(100))
      }
      return clients.flatMap(\.channels.log)
    }
    #expect(try run() == run())
  }

  // MARK: Calls

  @Test func metadataIsPutByCalls() throws {
    let (network, room) = try makeRoom(16)
    let first = try join(room, 1) { $0.notifyMetadata = ["name": "one"] }
    let second = try join(room, 2)
    #expect(
      network.run(
        until: { [first, second].allSatisfy { $0.channels.isSwitched } }, within: .seconds(5)))
    func call(_ text: String) -> JSONValue? {
      let count = first.channels.calls.count
      first.channels.send(Array(text.utf8), isText: true, on: "rpc", at: network.now)
      network.run(for: .milliseconds(200))
      return first.channels.calls.count > count ? first.channels.calls.last : nil
    }
    #expect(
      call(
        #"{"jsonrpc":"2.0","id":1,"method":"2025.2.0/PutSignalingNotifyMetadataItem","params":{"key":"k","value":[1],"push":true}}"#
      ) == ["jsonrpc": "2.0", "id": 1, "result": ["name": "one", "k": [1]]])
    let id = room.server.core.status[0].connectionID
    #expect(
      second.pushes == [
        [
          "action": "PutMetadataItem", "connection_id": .string(id), "key": "k", "value": [1],
          "type": "signaling_notify_metadata_ext",
        ]
      ])
    #expect(
      call(
        #"{"jsonrpc":"2.0","id":"x","method":"2025.2.0/PutSignalingNotifyMetadata","params":{"metadata":"all"}}"#
      ) == ["jsonrpc": "2.0", "id": "x", "result": "all"])
    let layer = call(
      #"{"jsonrpc":"2.0","id":3,"method":"2025.2.0/RequestSimulcastRid","params":{"rid":"r1"}}"#)
    #expect(layer?["result"]?["rid"] == "r1")
    #expect(layer?["result"]?["receiver_connection_id"] == .string(id))
    // Who hasn't asked for a spotlight has none.
    let spotlight = call(
      #"{"jsonrpc":"2.0","id":4,"method":"2025.2.0/ResetSpotlightRid","params":{}}"#)
    #expect(spotlight?["error"]?["code"] == -32_602)
    // A call without an id isn't answered, and does its work.
    #expect(
      call(
        #"{"jsonrpc":"2.0","method":"2025.2.0/PutSignalingNotifyMetadata","params":{"metadata":{"n":2}}}"#
      ) == nil)
    let errors: [(String, Int)] = [
      (#"{"jsonrpc":"2.0","id":2,"method":"2025.2.0/Nothing","params":{}}"#, -32_601),
      (#"{"jsonrpc":"2.0","id":2,"method":"2025.2.0/PutSignalingNotifyMetadata"}"#, -32_602),
      (
        #"{"jsonrpc":"2.0","id":2,"method":"2025.2.0/PutSignalingNotifyMetadata","params":{"metadata":1,"push":1}}"#,
        -32_602
      ), ("{", -32_700), ("[]", -32_600),
      (
        #"{"jsonrpc":"2.0","id":2,"method":"2025.2.0/RequestSimulcastRid","params":{"rid":"r9"}}"#,
        -32_602
      ),
      (
        #"{"jsonrpc":"2.0","id":2,"method":"2025.2.0/RequestSimulcastRid","params":{"rid":"r0","sender_connection_id":"x"}}"#,
        -32_602
      ),
    ]
    for (text, code) in errors {
      #expect(call(text)?["error"]?["code"]?.intValue == code, "\(text)")
    }
    // Who comes later is told what was put last.
    let third = try join(room, 3)
    #expect(network.run(until: { third.channels.isSwitched }, within: .seconds(5)))
    #expect(second.pushes.count == 1)
    let created = try #require(first.notes.last { $0.eventType == "connection.created" })
    #expect(created.data?.contains { $0.metadata == ["n": 2] } == true)
    expectNoErrors([first, second, third])
  }

  @Test func layersOfASpotlightAreAskedForByCalls() throws {
    let (network, room) = try makeRoom(19)
    let client = try join(room, 1) { $0.spotlight = true }
    #expect(network.run(until: { client.channels.isSwitched }, within: .seconds(5)))
    let id = room.server.core.status[0].connectionID
    func call(_ method: String, _ params: String) -> JSONValue? {
      let text = #"{"jsonrpc":"2.0","id":1,"method":"2025.2.0/\#(method)","params":{\#(params)}}"#
      let count = client.channels.calls.count
      client.channels.send(Array(text.utf8), isText: true, on: "rpc", at: network.now)
      network.run(for: .milliseconds(200))
      return client.channels.calls.count > count ? client.channels.calls.last : nil
    }
    let channel = room.server.core.status[0].channelID
    #expect(
      call(
        "RequestSpotlightRid",
        #""send_connection_id":"\#(id)","spotlight_focus_rid":"r2","spotlight_unfocus_rid":"none""#
      )?["result"] == [
        "channel_id": .string(channel), "recv_connection_id": .string(id),
        "spotlight_focus_rid": "r2", "spotlight_unfocus_rid": "none",
      ])
    #expect(
      call("ResetSpotlightRid", "")?["result"]
        == ["channel_id": .string(channel), "recv_connection_id": .string(id)])
    for wrong in [
      #""spotlight_focus_rid":"r2""#, #""spotlight_focus_rid":"r3","spotlight_unfocus_rid":"r0""#,
      #""spotlight_focus_rid":1,"spotlight_unfocus_rid":"r0""#,
      #""send_connection_id":"x","spotlight_focus_rid":"r2","spotlight_unfocus_rid":"r0""#,
    ] {
      #expect(call("RequestSpotlightRid", wrong)?["error"]?["code"] == -32_602, "\(wrong)")
    }
    #expect(call("ResetSpotlightRid", #""send_connection_id":7"#)?["error"]?["code"] == -32_602)
    expectNoErrors([client])
  }

  @Test func aGrantSaysWhatMayBeCalled() throws {
    let (network, room) = try makeRoom(18)
    let item = "2025.2.0/PutSignalingNotifyMetadataItem"
    room.server.grant = SFUGrant(settings: GrantSettings { $0.rpcMethods = [item] })
    let client = try join(room, 1)
    #expect(network.run(until: { client.channels.isSwitched }, within: .seconds(5)))
    func call(_ method: String) -> JSONValue? {
      let text =
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{"key":"k","value":1,"metadata":2}}"#
      let count = client.channels.calls.count
      client.channels.send(Array(text.utf8), isText: true, on: "rpc", at: network.now)
      network.run(for: .milliseconds(200))
      return client.channels.calls.count > count ? client.channels.calls.last : nil
    }
    #expect(call(item)?["result"] == ["k": 1])
    let other = call("2025.2.0/PutSignalingNotifyMetadata")
    #expect(other?["error"]?["code"] == -32_601 && other?["result"] == nil)
    expectNoErrors([client])
  }
}
