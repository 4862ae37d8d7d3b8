import SoraMedia
import SoraWire

/// The STUN servers that are asked how they see our sockets: one question for each server and socket, which is repeated to keep the
/// binding of a NAT.
struct ReflexiveAddresses {
  /// What a server says, or that it doesn't.
  struct Answer {
    let server: Int
    let base: TransportAddress
    /// The server's address.
    let ip: IPAddress
    let result: Result<TransportAddress, TURNError>
  }

  private struct Binding {
    let client: STUNBindingClient
    let base: TransportAddress
    let server: Int
    /// What was told of it last.
    var told: TransportAddress?
    var isDone = false
  }

  private var bindings: [Binding] = []

  var count: Int { bindings.count }

  /// Whether each server has answered or was given up.
  var isDone: Bool { bindings.allSatisfy(\.isDone) }

  func isAsked(_ server: Int) -> Bool { bindings.contains { $0.server == server } }

  func isAsked(_ server: Int, from base: TransportAddress) -> Bool {
    bindings.contains { $0.server == server && $0.base == base }
  }

  /// Asks a server.
  mutating func ask(
    _ server: Int, with client: STUNBindingClient, from base: TransportAddress, at now: Instant
  ) {
    bindings.append(Binding(client: client, base: base, server: server))
    client.start(at: now)
  }

  /// A socket is gone.
  mutating func forget(base: TransportAddress) { bindings.removeAll { $0.base == base } }

  /// Servers that gave nothing may be asked again.
  mutating func forgetFailures() {
    bindings.removeAll { if case .failed = $0.client.state { true } else { false } }
  }

  mutating func removeAll() { bindings = [] }

  /// Takes a datagram, if one of the servers answers with it.
  func receive(
    _ bytes: RawSpan, from remote: TransportAddress, on local: TransportAddress, at now: Instant
  ) -> Bool {
    bindings.contains {
      $0.base == local && $0.client.server == remote && $0.client.receive(bytes, at: now)
    }
  }

  func poll(at now: Instant) {
    for binding in bindings {
      if let due = binding.client.nextDeadline, due <= now { binding.client.poll(at: now) }
    }
  }

  var nextDeadline: Instant? { bindings.compactMap(\.client.nextDeadline).min() }

  /// Sends what they want to send, and returns what is new of them.
  mutating func settle(_ output: inout GatheringOutput) -> [Answer] {
    var answers: [Answer] = []
    for index in bindings.indices {
      let binding = bindings[index]
      let client = binding.client
      while let bytes = client.nextTransmit() {
        output.send(.datagram(from: binding.base, to: client.server, bytes: bytes))
      }
      let result: Result<TransportAddress, TURNError>
      switch client.state {
      case .mapped(let address) where address != binding.told:
        bindings[index].told = address
        result = .success(address)
      case .failed(let error) where !binding.isDone: result = .failure(error)
      default: continue
      }
      bindings[index].isDone = true
      answers.append(
        Answer(server: binding.server, base: binding.base, ip: client.server.ip, result: result))
    }
    return answers
  }
}
