import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing

/// TURN servers of which none can be used.
@Suite struct ServerFailureTests {
  private func server(_ url: String, password: String = "secret") -> ICEServer {
    ICEServer(
      url: ICEServerURL(url)!, credentials: .init(username: "ann", password: password))
  }

  /// All are tried, each has its own reason, and all are told when none is left.
  @Test func everyServerIsNamedWithItsReason() throws {
    let servers = [
      server("turn:192.0.2.1", password: "guess"), server("turn:192.0.2.1:9?transport=tcp"),
      server("turns:192.0.2.1:9"), server("turn:192.0.2.77"), server("turn:nowhere.example.org"),
      server("turns:nowhere.example.org"),
    ]
    let world = try HostileWorld(
      seed: 1, .portRestrictedCone, .open, .stun, policies: (.relay, .all)
    ) { $0.servers = servers }
    let a = world.a
    a.connect(with: world.b)
    #expect(
      world.network.run(until: { a.states.last?.state.isFailure ?? false }, within: .seconds(20)))
    guard case .failed(let error)? = a.states.last?.state,
      case .serversFailed(let failures, localCandidates: 0, _) = error
    else {
      Issue.record("\(String(describing: a.states.last))")
      return
    }
    let reasons = servers.map { server in failures.first { $0.url == server.url }?.error }
    #expect(
      reasons == [
        .wrongCredentials, .disconnected(reason: "connection refused"),
        .disconnected(reason: "connection refused"), .timedOut,
        .unresolvable(name: "nowhere.example.org"), .disconnected(reason: "no route to host"),
      ])
    for server in servers { #expect("\(error)".contains("\(server.url): "), "\(error)") }
    print(error)
  }

  /// The one that works is found among those that don't, wherever it stands, and nobody waits for the others.
  @Test(arguments: 0..<4)
  func oneThatWorksIsEnough(place: Int) throws {
    var servers = [
      server("turn:192.0.2.1", password: "guess"), server("turn:192.0.2.1:9?transport=tcp"),
      server("turn:nowhere.example.org"),
    ]
    servers.insert(server("turns:192.0.2.1"), at: place)
    let world = try HostileWorld(
      seed: 2, .symmetric, .symmetric, .stun, policies: (.relay, .all)
    ) { $0.servers = servers }
    #expect(world.connect(within: .seconds(1)), "\(world.story)")
    #expect(world.a.selectedTypes?.first == .relay)
    world.network.run(for: .seconds(20))
    #expect(world.areConnected)
    #expect(
      Set(world.a.transport.gatherer.failures.map(\.url))
        == Set(
          servers.map(\.url).filter { $0 != servers[place].url }))
  }
}
