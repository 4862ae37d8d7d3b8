import SoraDataChannel
import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraTransport
import Testing
import WebRTC

/// Data channels between clients and the server: the same parts as in a call between two.
@Suite struct DataChannelTests {
  /// Answers what comes on a channel, and opens one to each client that is connected.
  private final class Echo {
    private let core: SFUCore
    private(set) var received: [String: Int] = [:]
    private(set) var opened: [String] = []
    private(set) var errors: [String] = []

    init(_ server: SimulatedServer) {
      core = server.core
      server.onData = { [self] in take($0, $1, $2) }
    }

    private func take(_ connectionID: String, _ event: DataChannelEvent, _ now: Instant) {
      do {
        switch event {
        case .connected:
          opened.append(connectionID)
          let id = try core.openDataChannel(
            DataChannelParameters(label: "signaling"), connectionID: connectionID, at: now)
          if id == nil { errors.append("no channel for \(connectionID)") }
        case .message(let channel, let message):
          received[connectionID, default: 0] += 1
          try core.send(
            message.payload, isText: message.isText, on: channel, connectionID: connectionID,
            at: now)
        default: break
        }
      } catch {
        errors.append("\(error)")
      }
    }
  }

  /// Sends numbered messages on channels of both sides, and counts those that come back in order.
  private final class Talker {
    let client: SimulatedClient
    private(set) var returned: [DataChannelID: Int] = [:]
    private(set) var wrong = 0
    private var sent: [DataChannelID: Int] = [:]
    private(set) var channels: [DataChannelID] = []
    static let messages = 50

    init(_ client: SimulatedClient) {
      self.client = client
      client.onData = { [weak self] in self?.take($0, $1) }
    }

    func open(at now: Instant) throws {
      try client.core.openDataChannel(DataChannelParameters(label: "#chat"), at: now) { _ in }
    }

    private func take(_ event: DataChannelEvent, _ now: Instant) {
      switch event {
      case .opened(let id, _), .announced(let id, _, _):
        channels.append(id)
        send(on: id, at: now)
      case .message(let id, let message):
        let number = returned[id, default: 0]
        if message.payload != Self.payload(number) { wrong += 1 }
        returned[id] = number + 1
        if number + 1 < Self.messages { send(on: id, at: now) }
      default: break
      }
    }

    private func send(on id: DataChannelID, at now: Instant) {
      let number = sent[id, default: 0]
      sent[id] = number + 1
      let payload = Self.payload(number)
      do {
        try client.core.data.send(payload.span.bytes, isText: true, on: id, at: now)
      } catch {
        wrong += 1
      }
    }

    private static func payload(_ number: Int) -> [UInt8] {
      Array("message \(number) ".utf8) + [UInt8](repeating: UInt8(number), count: number * 37)
    }
  }

  private func connect(
    _ seed: UInt64, _ conditions: LinkConditions, clients: Int, hasMedia: Bool
  ) throws -> (SimulatedNetwork, Room, Echo, [Talker]) {
    let network = SimulatedNetwork(seed: seed, retention: .everything)
    let room = try Room(network, network.addHost("server", "10.0.0.1"))
    let echo = Echo(room.server)
    let talkers = try (1...clients).map { number in
      Talker(
        try room.join("client\(number)", number, role: .sendrecv, conditions) {
          $0.dataChannelSignaling = true
          if !hasMedia {
            $0.audio = .disabled
            $0.video = .disabled
          }
        })
    }
    return (network, room, echo, talkers)
  }

  @Test(arguments: [(1, true), (2, true), (3, false)] as [(UInt64, Bool)])
  func theServerEndsChannels(seed: UInt64, hasMedia: Bool) throws {
    let (network, room, echo, talkers) = try connect(
      seed, LinkConditions(delay: .milliseconds(20), loss: 0.03), clients: 3, hasMedia: hasMedia)
    if hasMedia { for talker in talkers { talker.client.startMedia() } }
    network.run(for: .seconds(3))
    for talker in talkers { try talker.open(at: network.now) }
    #expect(
      network.run(
        until: {
          talkers.allSatisfy {
            $0.returned.count == 2 && $0.returned.values.allSatisfy { $0 == Talker.messages }
          }
        }, within: .seconds(60)))
    #expect(talkers.allSatisfy { $0.wrong == 0 && $0.channels.count == 2 })
    #expect(echo.errors.isEmpty && echo.opened.count == 3)
    #expect(echo.received.values.allSatisfy { $0 == 2 * Talker.messages })
    #expect(talkers.allSatisfy { $0.client.errors.isEmpty })
    if hasMedia {
      #expect(
        talkers.allSatisfy { talker in talker.client.reception.values.contains { $0.frames > 30 } })
    }
    // A client that leaves takes its channels along; the others' go on.
    talkers[0].client.disconnect()
    network.run(for: .seconds(2))
    #expect(
      talkers[0].client.dataEvents.contains { if case .disconnected = $0 { true } else { false } })
    let others = room.server.core.status.map(\.connectionID)
    #expect(others.count == 2)
    for id in others {
      let report = try #require(room.server.core.dataReport(connectionID: id))
      #expect(report.channels.count == 2 && report.channels.allSatisfy { $0.state == .open })
      #expect(report.drops.isEmpty)
    }
  }

  /// Who doesn't ask for channels has no section for them.
  @Test func channelsAreForThoseWhoAsk() throws {
    let network = SimulatedNetwork(seed: 5)
    let room = try Room(network, network.addHost("server", "10.0.0.1"))
    let echo = Echo(room.server)
    let client = try room.join("plain", 1, role: .sendrecv, LinkConditions(delay: .milliseconds(5)))
    network.run(for: .seconds(2))
    #expect(client.core.remoteDescription?.contains("m=application") == false)
    #expect(client.state == .connected && echo.opened.isEmpty)
    let id = try #require(room.server.core.status.first).connectionID
    #expect(
      try room.server.core.openDataChannel(.init(label: "x"), connectionID: id, at: network.now)
        == nil)
  }

  @Test func talkRunsTheSameWayTwice() throws {
    func run() throws -> [Int] {
      let (network, _, _, talkers) = try connect(
        7, LinkConditions(delay: .milliseconds(30), loss: 0.05), clients: 2, hasMedia: false)
      network.run(for: .seconds(120))
      return talkers.flatMap { $0.client.dataEvents.map { "\($0)".count } }
    }
    #expect(try run() == run())
  }
}
