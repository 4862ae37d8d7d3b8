import SoraMedia
import SoraNetworkSimulator
import SoraServer
import Testing

/// What a grant does to a connection, in virtual time.
struct GrantTests {
  private let network = SimulatedNetwork(seed: 77)

  /// Lets a client in with a grant, as whoever decides does.
  private func admit(
    _ client: ScriptedClient, _ server: TestServer, _ grant: SFUGrant,
    _ request: ConnectMessage = ConnectMessage(role: .sendrecv, channelID: "room")
  ) throws -> SFUApplicant {
    let peer = try #require(client.peer)
    let asked = try #require(server.core.examine(request, of: peer, at: network.now))
    var grant = grant
    grant.connectionID = asked.connectionID
    server.core.admit(request, grant, of: peer, at: network.now)
    return asked
  }

  @Test func aConnectionEndsWithItsLifetime() throws {
    let server = try TestServer(network)
    let other = try ScriptedClient("b", 2, server).connect(.sendrecv)
    let client = try ScriptedClient("a", 1, server)
    let asked = try admit(
      client, server, SFUGrant(settings: GrantSettings { $0.connectionLifetime = 3 }))
    #expect(network.run(until: { client.isConnected && other.isConnected }, within: .seconds(5)))
    #expect(client.offer?.connectionID == asked.connectionID)
    let start = network.now
    network.run(for: .milliseconds(2_900))
    #expect(client.closed == nil)
    #expect(network.run(until: { client.closed != nil }, within: .seconds(1)))
    #expect(client.closed == SFUClose(code: 1000, reason: "LIFETIME-EXPIRED"))
    #expect(network.now - start <= .milliseconds(3_100))
    network.run(for: .seconds(120))
    #expect(other.closed == nil)
    let left = server.reports.compactMap { report -> SFUConnectionReport? in
      guard case .connection(let connection) = report else { return nil }
      return connection.notification.kind == .destroyed ? connection : nil
    }
    #expect(left.map(\.reason) == ["LIFETIME-EXPIRED"])
  }

  @Test func aLifetimeCountsFromTheFirstMedia() throws {
    let server = try TestServer(network) { $0.mediaTimeout = .seconds(20) }
    let client = try ScriptedClient("a", 1, server)
    client.answersOffers = false
    _ = try admit(
      client, server, SFUGrant(settings: GrantSettings { $0.connectionLifetime = 1 }))
    network.run(for: .seconds(10))
    #expect(client.closed == nil)
    network.run(for: .seconds(11))
    #expect(client.closed?.reason.hasPrefix("MEDIA-TIMEOUT") == true)
  }

  @Test func eachMinuteIsReported() throws {
    let server = try TestServer(network)
    let client = try ScriptedClient("a", 1, server)
    let metadata: JSONValue = ["plan": 7]
    _ = try admit(
      client, server, SFUGrant(settings: GrantSettings { $0.eventMetadata = metadata }))
    #expect(network.run(until: { client.isConnected }, within: .seconds(5)))
    network.run(for: .seconds(185))
    client.say(.disconnect(reason: "NO-ERROR"))
    network.run(for: .seconds(1))
    let kinds = server.reports.map { report in
      switch report {
      case .sessionCreated(let session): "session \(session.channelID) \(session.counters.total)"
      case .sessionDestroyed(let session, _):
        "no session \(session.channelID) \(session.counters.total)"
      case .connection(let connection):
        "\(connection.notification.kind.rawValue) \(connection.notification.minutes) "
          + "\(connection.notification.counters.total) \(connection.reason ?? "-")"
      case .recording(let event, _, _): event.rawValue
      }
    }
    #expect(
      kinds == [
        "session room 1", "connection.created 0 1 -", "connection.updated 1 1 -",
        "connection.updated 2 1 -", "connection.updated 3 1 -",
        "connection.destroyed 3 0 NO-ERROR", "no session room 0",
      ])
    for case .connection(let connection) in server.reports {
      #expect(connection.eventMetadata == metadata)
      #expect(connection.bytesSent > 0 && connection.channelID == "room")
      #expect(connection.createdUnixNanoseconds > 1_750_000_000_000_000_000)
    }
  }

  @Test func aSpotlightIsGrantedAndTaken() throws {
    let server = try TestServer(network)
    let given = try ScriptedClient("a", 1, server)
    let encodings = ["r0", "r1"].map { rid in SignalingEncoding { $0.rid = rid } }
    _ = try admit(
      given, server,
      SFUGrant(
        settings: GrantSettings {
          $0.simulcast = true
          $0.spotlight = true
          $0.spotlightEncodings = encodings
        }))
    let taken = try ScriptedClient("b", 2, server)
    _ = try admit(
      taken, server,
      SFUGrant(
        settings: GrantSettings {
          $0.spotlight = false
          $0.signalingNotify = false
        }),
      ConnectMessage(role: .sendrecv, channelID: "room") {
        $0.spotlight = true
        $0.spotlightNumber = 2
        $0.spotlightFocusRid = .r1
      })
    #expect(
      network.run(
        until: { given.isConnected && server.status(taken)?.isConnected == true },
        within: .seconds(5)))
    network.run(for: .seconds(1))
    #expect(given.offer?.spotlight == true && given.offer?.encodings == encodings)
    #expect(server.status(given)?.spotlight.isEnabled == true)
    #expect(taken.offer?.spotlight == false && taken.closed == nil)
    #expect(server.status(taken)?.spotlight.isEnabled == false)
    // It may not hear of others either.
    #expect(given.notifications.count == 2 && taken.notifications.isEmpty)
  }

  @Test func whatWasDecidedIsToldToTheOthers() throws {
    let server = try TestServer(network)
    let first = try ScriptedClient("a", 1, server)
    _ = try admit(
      first, server,
      SFUGrant(
        settings: GrantSettings {
          $0.clientID = "alice"
          $0.metadata = ["seat": 1]
          $0.notifyMetadata = "shown"
        }, authnMetadata: ["user": "a"]))
    #expect(network.run(until: { first.isConnected }, within: .seconds(5)))
    #expect(first.offer?.metadata == ["seat": 1] && first.offer?.clientID == "alice")
    let second = try ScriptedClient("b", 2, server).connect(.sendrecv)
    #expect(network.run(until: { second.isConnected }, within: .seconds(5)))
    let peer = try #require(second.notifications.first?.others.first)
    #expect(peer.authzMetadata == ["seat": 1] && peer.authnMetadata == ["user": "a"])
    #expect(peer.clientID == "alice" && peer.metadata == "shown")
  }

  @Test func whoIsDecidedAboutIsNotWaitedFor() throws {
    let server = try TestServer(network) { $0.connectTimeout = .seconds(2) }
    let slow = try ScriptedClient("a", 1, server)
    let peer = try #require(slow.peer)
    let request = ConnectMessage(role: .sendrecv, channelID: "room")
    _ = try #require(server.core.examine(request, of: peer, at: network.now))
    let silent = try ScriptedClient("b", 2, server)
    network.run(for: .seconds(5))
    #expect(silent.closed?.reason.hasPrefix("CONNECT-TIMEOUT") == true)
    #expect(slow.closed == nil)
    server.core.refuse(peer, reason: "NO", at: network.now)
    // Only once, and nothing of it afterwards.
    server.core.refuse(peer, reason: "NO", at: network.now)
    server.core.admit(request, SFUGrant(), of: peer, at: network.now)
    network.run(for: .seconds(1))
    #expect(slow.closed == SFUClose(code: 4490, reason: "NO"))
    #expect(server.core.status.isEmpty)
    let last = try ScriptedClient("c", 3, server)
    let lastPeer = try #require(last.peer)
    _ = try #require(server.core.examine(request, of: lastPeer, at: network.now))
    server.core.shutdown(at: network.now)
    network.run(for: .seconds(1))
    #expect(last.closed?.code == 1001)
  }

  @Test func roomIsLimited() throws {
    let server = try TestServer(network) {
      $0.maximumConnections = 3
      $0.maximumChannelConnections = 2
    }
    let inside = try (1...2).map { try ScriptedClient("a\($0)", $0, server).connect(.sendrecv) }
    network.run(for: .seconds(1))
    let third = try ScriptedClient("c", 3, server).connect(.sendrecv)
    let elsewhere = try ScriptedClient("d", 4, server).connect(.sendrecv, channel: "other")
    network.run(for: .seconds(1))
    let beyond = try ScriptedClient("e", 5, server).connect(.sendrecv, channel: "third")
    network.run(for: .seconds(1))
    #expect(third.closed?.code == 4490)
    #expect(third.closed?.reason == "CONNECTION-LIMIT: the channel has as many as it takes")
    #expect(beyond.closed?.reason == "CONNECTION-LIMIT: the server has as many as it takes")
    #expect(elsewhere.isConnected && inside.allSatisfy(\.isConnected))
    // Who leaves makes room.
    inside[0].say(.disconnect(reason: nil))
    network.run(for: .seconds(1))
    let late = try ScriptedClient("f", 6, server).connect(.sendrecv)
    #expect(network.run(until: { late.isConnected }, within: .seconds(2)))
  }
}
