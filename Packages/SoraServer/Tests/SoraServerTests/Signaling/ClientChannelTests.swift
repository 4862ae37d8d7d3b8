import SoraDataChannel
import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingMessages
import SoraTransport
import Testing

/// The data channels that a client asks for in `connect`: which it gets, and which it is refused.
struct ClientChannelTests {
  private let network = SimulatedNetwork(seed: 56)

  private func connect(
    _ number: Int, _ server: TestServer, _ channels: String
  ) throws -> ScriptedClient {
    let client = try ScriptedClient("c\(number)", number, server).withData()
    client.say(
      SFUMessage(
        parsing: #"{"type":"connect","role":"sendrecv","channel_id":"room","#
          + #""data_channel_signaling":true,"data_channels":\#(channels)}"#))
    return client
  }

  @Test(arguments: [
    (##"[{"label":"#a"}]"##, "direction must be sendrecv, sendonly or recvonly"),
    (
      ##"[{"label":"#a","direction":"sendrecv","max_packet_life_time":1,"max_retransmits":0}]"##,
      "max_packet_life_time and max_retransmits exclude each other"
    ),
    (
      ##"[{"label":"#a","direction":"sendrecv"},{"label":"#b","direction":"sendrecv"},"##
        + ##"{"label":"#a","direction":"recvonly"}]"##, "the label #a comes twice"
    ),
    (#"[{"label":"a","direction":"sendrecv"}]"#, "a label begins with # and has 255 bytes at most"),
    (#"[{"label":"","direction":"sendrecv"}]"#, "a label begins with # and has 255 bytes at most"),
    (
      #"[{"label":"signaling","direction":"sendrecv"}]"#,
      "a label begins with # and has 255 bytes at most"
    ),
    (
      ##"[{"label":"#"## + String(repeating: "x", count: 255) + #"","direction":"sendrecv"}]"#,
      "a label begins with # and has 255 bytes at most"
    ),
    (
      ##"[{"label":"#a","direction":"sendrecv","header":[{"type":"colour"}]}]"##,
      "header may have one part, sender_connection_id"
    ),
    (
      ##"[{"label":"#a","direction":"sendrecv","header":[{"type":"sender_connection_id"},"##
        + #"{"type":"sender_connection_id"}]}]"#, "header may have one part, sender_connection_id"
    ),
  ])
  func whatCannotBeIsRefused(_ channels: String, _ wayOut: String) throws {
    let server = try TestServer(network)
    let client = try connect(1, server, channels)
    network.run(for: .seconds(1))
    #expect(client.offer == nil && server.core.status.isEmpty)
    #expect(client.closed == SFUClose(code: 4490, reason: "INVALID-DATA-CHANNELS: \(wayOut)"))
  }

  /// Kinds and ranges are refused with the name of the key.
  @Test(arguments: [
    (##"[{"label":"#a","direction":"both"}]"##, "direction"),
    (##"[{"label":7,"direction":"sendrecv"}]"##, "label"),
    (##"[{"direction":"sendrecv"}]"##, "label"),
    (##"[{"label":"#a","direction":"sendrecv","max_packet_life_time":-1}]"##, "life_time"),
    (##"[{"label":"#a","direction":"sendrecv","max_packet_life_time":65536}]"##, "life_time"),
    (##"[{"label":"#a","direction":"sendrecv","max_retransmits":1.5}]"##, "max_retransmits"),
    (##"[{"label":"#a","direction":"sendrecv","header":[{}]}]"##, "header"),
    (##"{"label":"#a","direction":"sendrecv"}"##, "data_channels"),
  ])
  func whatIsOfAnotherKindIsRefused(_ channels: String, _ key: String) throws {
    let server = try TestServer(network)
    let client = try connect(1, server, channels)
    network.run(for: .seconds(1))
    #expect(client.offer == nil && client.closed?.code == 4490)
    #expect(client.closed?.reason.contains(key) == true, "\(client.closed as Any)")
  }

  @Test func whatIsAskedForIsAnnouncedAndOpened() throws {
    let server = try TestServer(network)
    let client = try connect(
      1, server,
      """
      [{"label":"#time","direction":"sendrecv","ordered":false,"max_packet_life_time":250},
      {"label":"#count","direction":"recvonly","max_retransmits":0,"protocol":"p"},
      {"label":"#none","direction":"sendonly","compress":true}]
      """)
    let data = try #require(client.data)
    #expect(
      network.run(
        until: { ["#time", "#count", "#none"].allSatisfy { data.isOpen($0) } },
        within: .seconds(5)))
    let offer = try #require(client.offer)
    let announced = (offer.dataChannels ?? []).filter { $0.label.hasPrefix("#") }.map(\.json)
    let expected = try JSONValue(
      parsing: """
        [{"label":"#time","direction":"sendrecv","compress":false,"ordered":false,
        "max_packet_life_time":250},
        {"label":"#count","direction":"recvonly","compress":false,"ordered":true,
        "max_retransmits":0,"protocol":"p"},
        {"label":"#none","direction":"sendonly","compress":true,"ordered":true}]
        """)
    #expect(JSONValue.array(announced) == expected)
    let channels = server.core.dataReport(connectionID: offer.connectionID)?.channels ?? []
    let opened = channels.map(\.parameters).filter { $0.label.hasPrefix("#") }
    #expect(
      opened.map(\.reliability)
        == [.maximumLifetime(milliseconds: 250), .maximumRetransmits(0), .reliable])
    #expect(opened.map(\.isOrdered) == [false, true, true])
    #expect(opened.map(\.protocol) == ["", "p", ""])
  }

  /// A message that couldn't be handed over in its time isn't handed over any more.
  @Test func aMessageIsGivenUpAfterItsTime() throws {
    let server = try TestServer(network)
    let channels = """
      [{"label":"#time","direction":"sendrecv","max_packet_life_time":250},
      {"label":"#sure","direction":"sendrecv"}]
      """
    let clients = try (1...2).map { try connect($0, server, channels) }
    let data = clients.compactMap(\.data)
    #expect(
      network.run(
        until: { data.allSatisfy { $0.isOpen("#time") && $0.isOpen("#sure") } },
        within: .seconds(5)))
    network.run(for: .milliseconds(500))
    func say(_ text: String) throws {
      for label in ["#time", "#sure"] { try data[0].send(Array(text.utf8), on: label) }
    }
    func heard(_ label: String) -> [String] {
      (data[1].received[label] ?? []).map { String(decoding: $0, as: UTF8.self) }
    }
    try say("first")
    network.run(for: .milliseconds(500))
    clients[1].link.backwardConditions.isUp = false
    try say("lost")
    network.run(for: .seconds(2))
    clients[1].link.backwardConditions.isUp = true
    #expect(network.run(until: { heard("#sure").count == 2 }, within: .seconds(10)))
    try say("last")
    #expect(
      network.run(
        until: { heard("#sure").count == 3 && heard("#time").count == 2 }, within: .seconds(5)))
    network.run(for: .seconds(5))
    #expect(heard("#sure") == ["first", "lost", "last"])
    #expect(heard("#time") == ["first", "last"])
  }
}
