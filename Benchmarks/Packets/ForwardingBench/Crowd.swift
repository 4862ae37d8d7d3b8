import Foundation
import SoraClock
import SoraDTLS
import SoraMedia
import SoraServer
import SoraTransport

/// Ends the benchmark.
func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("ForwardingBench: \(message)\n".utf8))
  exit(1)
}

/// A server and its clients. Those that send have a loop of their own: what the others receive must not hold them up.
final class Crowd {
  let server: BenchServer
  private let receiving: NetworkLoop
  private let sending: NetworkLoop
  private let certificate: DTLSCertificate
  private let dtls: any DTLSEndpointFactory & Sendable
  private var clients: [BenchClient] = []

  init() async throws {
    server = try BenchServer()
    receiving = try NetworkLoop.make()
    sending = try NetworkLoop.make()
    certificate = try DTLSCertificate.generate()
    dtls = try DTLSImplementation.standard.makeFactory()
    try await server.start()
  }

  /// Adds clients, some at a time, and waits until they have joined. `channel` names each one's by its number.
  @discardableResult
  func add(_ count: Int, _ role: SFURole, channel: (Int) -> String) async throws -> [BenchClient] {
    let loop = role.sends ? sending : receiving
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
    let limit = ContinuousClock.now + .seconds(60)
    while true {
      let members = await server.members()
      guard ContinuousClock.now < limit else {
        fail("\(members.joined) of \(count) clients joined within 60 s; ended: \(members.ended)")
      }
      if members.joined >= count { return }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Says which connections the server has given up: on a busy machine clients may answer too late.
  func reportEnded() async {
    let members = await server.members()
    for (reason, count) in members.ended.sorted(by: { $0.key < $1.key }) {
      print("\(count) of \(members.joined) connections ended meanwhile: \(reason)")
    }
  }

  /// What all clients have sent and received.
  func packets() async -> (sent: Int, received: Int) {
    var (sent, received) = (0, 0)
    for loop in [receiving, sending] {
      let own = clients(on: loop)
      let counts = await loop.run {
        own.reduce((0, 0)) { ($0.0 + $1.packetsSent, $0.1 + $1.packetsReceived) }
      }
      sent += counts.0
      received += counts.1
    }
    return (sent, received)
  }

  /// Ends the clients, and not their connections at the server.
  func removeClients() async {
    for loop in [receiving, sending] {
      let own = clients(on: loop)
      await loop.run { for client in own { client.vanish() } }
    }
    await server.forgetClients()
    clients = []
  }

  func stop() async {
    await removeClients()
    await server.stop()
    receiving.shutdown()
    sending.shutdown()
  }

  private func clients(on loop: NetworkLoop) -> [BenchClient] {
    clients.filter { $0.loop === loop }
  }
}
