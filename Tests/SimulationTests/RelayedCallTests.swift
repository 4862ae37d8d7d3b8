import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraTransport
import Testing
import WebRTC

/// A publisher that reaches the server through a relay alone, which is restarted while the call runs.
@Suite struct RelayedCallTests {
  struct Outcome: Equatable {
    var digest: String
    var frames: Int
    var longestGap: Duration
    var errors: [String]
  }

  private func call(_ url: String, seed: UInt64, downtime: Duration) throws -> Outcome {
    let network = SimulatedNetwork(seed: seed)
    defer { network.removeAllEndpoints() }
    let hub = network.addHost("server", "10.0.0.1")
    let room = try Room(network, hub)
    let conditions = LinkConditions(
      delay: .milliseconds(15), jitter: .milliseconds(3), loss: 0.005)
    let relay = SimulatedTURNServer(
      network, on: hub,
      configuration: .init(realm: "sora.test", credentials: .users(["ann": "secret"])))
    var gathering = ICEGatherer.Configuration()
    gathering.servers = [
      ICEServer(
        url: ICEServerURL(url)!, credentials: .init(username: "ann", password: "secret"))
    ]
    gathering.policy = .relay
    let publisher = try room.join(
      "publisher", 1, role: .sendonly, conditions, gathering: gathering)
    let player = try room.join("player", 2, role: .recvonly, conditions)
    publisher.startMedia()
    network.run(for: .seconds(5))
    #expect(publisher.core.transport.ice.selectedPair?.localType == .relay)
    let before = player.reception.values.reduce(0) { $0 + $1.frames }
    #expect(before > 60)
    relay.restart(downtime: downtime)
    network.run(for: .seconds(20))
    #expect(publisher.state == .connected)
    #expect(publisher.core.transport.ice.selectedPair?.localType == .relay)
    let video = try #require(player.reception.values.first { $0.frames > 0 })
    return Outcome(
      digest: "\(network.log.digest)", frames: video.frames - before,
      longestGap: video.longestGap, errors: publisher.errors + player.errors)
  }

  @Test(
    arguments: ["turn:10.0.0.1", "turn:10.0.0.1?transport=tcp", "turns:10.0.0.1"], [0, 1500])
  func aRestartedRelayCostsSeconds(url: String, downtime: Int) throws {
    var longest = Duration.zero
    for seed in 1...5 as ClosedRange<UInt64> {
      let outcome = try call(url, seed: seed, downtime: .milliseconds(Int64(downtime)))
      longest = max(longest, outcome.longestGap)
      #expect(outcome.errors.isEmpty, "seed \(seed)")
      #expect(outcome.longestGap < .milliseconds(4500), "seed \(seed)")
      // Fifteen seconds of thirty frames at least.
      #expect(outcome.frames > 450, "seed \(seed) \(outcome.frames)")
    }
    #expect(
      try call(url, seed: 1, downtime: .milliseconds(Int64(downtime)))
        == call(url, seed: 1, downtime: .milliseconds(Int64(downtime))), "one seed, one run")
    print("\(url) restarted, down for \(downtime) ms: no picture for \(longest.inMilliseconds) ms")
  }
}
