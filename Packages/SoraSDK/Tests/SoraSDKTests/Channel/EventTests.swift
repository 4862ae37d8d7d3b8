import Foundation
import SoraSDK
import SoraSignaling
import Testing
import WebRTC

/// What somebody hears who asks for a channel's events late.
@Suite(.timeLimit(.minutes(5))) struct EventTests {
  private func server(_ far: FarEnd) async throws -> (ScriptedSora, Recorder<WebSocketConnection>) {
    let connections = Recorder<WebSocketConnection>()
    let server = try await ScriptedSora { connection, message in
      if case .connect = message {
        connections.append(connection)
        connection.send(far.offer())
      }
      try await far.handle(message)
    }
    return (server, connections)
  }

  /// Reads events until one of them has come.
  private func events(of channel: MediaChannel, until last: String) async -> [String] {
    var told: [String] = []
    for await event in channel.events {
      told.append(CallTests.text(event))
      if told.last == last { break }
    }
    return told
  }

  @Test func connectedComesAfterConnectHasReturned() async throws {
    let (server, _) = try await server(FarEnd(receives: true))
    let channel = try await Attempt(server.configuration(), face: .tasks).channel()
    let told = await events(of: channel, until: "connected")
    #expect(told == ["stream+ mainStream", "signaling offer", "connected"])
    // Somebody who comes later still: no messages, and nothing twice.
    #expect(await events(of: channel, until: "connected") == ["stream+ mainStream", "connected"])
    await channel.disconnect()
    #expect(await events(of: channel, until: "") == ["disconnected nil"])
  }

  @Test func streamsThatWentAreNotTold() async throws {
    let far = try await FarEnd(receives: true)
    let (server, connections) = try await server(far)
    let attempt = Attempt(server.configuration(.sendrecv), face: .tasks)
    let channel = try await attempt.channel()
    let connection = try #require(connections.elements.first)
    connection.send(try await far.reOffer(stream: "ONE"))
    await far.handled.wait { $0.count { $0 == "re-answer" } == 1 }
    connection.send(try await far.reOffer(stream: "TWO"))
    await far.handled.wait { $0.count { $0 == "re-answer" } == 2 }
    let gone = try #require(far.peer.transceivers.first { $0.sender.streamIds == ["ONE"] })
    gone.setDirection(.inactive)
    try await far.peer.setLocalDescription(far.peer.offer())
    connection.send(.reOffer(ReOfferMessage(sdp: far.sdp)))
    await attempt.log.wait { $0.contains("stream- ONE") }
    connection.send(.push(PushMessage(data: ["x": 1])))
    await attempt.log.wait { $0.contains("signaling push") }
    let first = await events(of: channel, until: "signaling push")
    #expect(
      first.filter { !$0.hasPrefix("signaling") } == [
        "stream+ mainStream", "connected", "stream+ TWO",
      ])
    #expect(first.filter { $0.hasPrefix("signaling re-offer") }.count == 3)
    await channel.disconnect()
  }

  /// Messages wait for the first subscriber, within a bound.
  @Test func messagesThatWaited() async throws {
    let (server, connections) = try await server(FarEnd(receives: false))
    let attempt = Attempt(server.configuration(.recvonly), face: .handlers)
    let channel = try await attempt.channel()
    let connection = try #require(connections.elements.first)
    for number in 0..<300 {
      connection.send(.push(PushMessage(data: ["n": .integer(Int64(number))])))
    }
    await attempt.log.wait { $0.count { $0 == "signaling push" } == 300 }
    var numbers: [Int] = []
    for await event in channel.events {
      guard case .push(let push) = event, let data = push.data as? [String: Int] else { continue }
      numbers += data.values
      if numbers.last == 299 { break }
    }
    // The last push may have come after the subscription.
    #expect(numbers.count == 256 || numbers.count == 257)
    #expect(numbers == Array((300 - numbers.count)..<300))
    await channel.disconnect()
  }
}
