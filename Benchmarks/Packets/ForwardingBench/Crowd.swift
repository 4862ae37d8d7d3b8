import SoraClock
import SoraDTLS
import SoraMedia
import SoraServer
import SoraTransport

/// A server and its clients, on two loops.
final class Crowd {
  let server: BenchServer
  private let loop: NetworkLoop
  private let certificate: DTLSCertificate
  private let dtls: any DTLSEndpointFactory & Sendable
  private var clients: [BenchClient] = []

  init() async throws {
    server = try BenchServer()
    loop = try NetworkLoop.make()
    certificate = try DTLSCertificate.generate()
    dtls = try DTLSImplementation.standard.makeFactory()
    try await server.start()
  }

  /// Adds clients, some at a time, and waits until they have joined. `channel` names each one's by its number.
  @discardableResult
  func add(_ count: Int, _ role: SFURole, channel: (Int) -> String) async throws -> [BenchClient] {
    var added: [BenchClient] = []
    while added.count < count {
      let some = (0..<min(20, count - added.count)).map { _ in
        BenchClient(
          on: loop, of: server, certificate: certificate, dtls: dtls, random: .system())
      }
      let channels = some.indices.map { channel(added.count + $0) }
      await loop.run {
        for (client, channel) in zip(some, channels) { client.connect(role, channel: channel) }
      }
      added += some
      clients += some
      try await join(clients.count)
    }
    return added
  }

  private func join(_ count: Int) async throws {
    let limit = ContinuousClock.now + .seconds(30)
    while true {
      let members = await server.members()
      guard members.left.isEmpty, ContinuousClock.now < limit else {
        fatalError("\(members.joined) of \(count) clients joined; \(members.left)")
      }
      if members.joined >= count { return }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// What all clients have received.
  func packetsReceived() async -> Int {
    let clients = clients
    return await loop.run { clients.reduce(0) { $0 + $1.packetsReceived } }
  }

  /// Ends the clients, and not their connections at the server.
  func removeClients() async {
    let clients = clients
    await loop.run { for client in clients { client.vanish() } }
    self.clients = []
  }

  func onClients(_ body: @escaping @Sendable () -> Void) async { await loop.run(body) }

  func stop() async {
    await removeClients()
    await server.stop()
    loop.shutdown()
  }
}
