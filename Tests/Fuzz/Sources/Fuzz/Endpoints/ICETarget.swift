import SoraICE
import SoraMedia

extension FuzzTarget {
  private static let remotePassword = "0123456789abcdef01234567"

  static var iceAgent: FuzzTarget {
    func seeds() -> [[UInt8]] {
      var asked = ScriptWriter()
      // Lite: a signed request that nominates, time, raw bytes, an indication.
      asked.raw([2, 1, 0, 0x07, 0, 2, 50, 0, 0, 0, 4, 1, 2, 3, 4, 1, 0, 0x20])
      var controlling = ScriptWriter()
      controlling.raw([1, 2, 1, 4, 0, 2, 100, 3, 0, 0, 2, 200, 3, 0, 0, 2, 230, 6, 7, 2, 255])
      var controlled = ScriptWriter()
      controlled.raw([0, 4, 0, 1, 0, 0x03, 0, 2, 60, 3, 0, 1, 3, 0, 0, 5, 2, 60, 8, 2, 220])
      return [asked.bytes, controlling.bytes, controlled.bytes]
    }
    return FuzzTarget("ice-agent", maximumLength: 400, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      let kind = input.byte()
      var configuration = ICEAgent.Configuration(
        isControlling: kind & 1 != 0, isLite: kind & 2 != 0)
      configuration.maxPairs = 16
      configuration.maxRemoteCandidates = 8
      var run = ICERun(ICEAgent(configuration: configuration, random: RandomSource(seed: 3)))
      while !input.isAtEnd { run.step(&input) }
      run.agent.close(at: run.now)
      run.drain()
    }
  }

  /// One agent and what its peer knows.
  private struct ICERun {
    let agent: ICEAgent
    var now = Instant.zero
    var sent: [ICETransmit] = []
    var local: String
    var localPassword: [UInt8]
    let transactions = RandomSource(seed: 4)

    init(_ agent: ICEAgent) {
      self.agent = agent
      local = agent.localParameters.ufrag
      localPassword = Array(agent.localParameters.password.utf8)
      _ = agent.addLocalCandidate(base: FuzzAddresses.local)
      if let remote = try? ICEParameters(ufrag: "abcd", password: remotePassword) {
        agent.setRemoteParameters(remote)
      }
      agent.start(at: now)
    }

    mutating func drain() {
      while let transmit = agent.nextTransmit() {
        check(transmit.bytes.withUnsafeBytes { isSTUN($0) }, "the agent sent something else")
        sent.append(transmit)
        if sent.count > 32 { sent.removeFirst() }
      }
      while agent.nextEvent() != nil {}
      _ = (agent.selectedPair, agent.state, agent.localCandidates)
    }

    mutating func receive(_ bytes: [UInt8], from remote: TransportAddress) {
      lendExactly(bytes) {
        agent.receive(
          UnsafeRawBufferPointer($0), from: remote, on: FuzzAddresses.local, at: now)
      }
    }

    /// One operation of the script.
    mutating func step(_ input: inout FuzzInput) {
      switch input.byte() % 10 {
      case 0: receive(input.chunk(), from: FuzzAddresses.remote(input.byte()))
      case 1: receive(request(&input), from: FuzzAddresses.remote(input.byte()))
      case 2:
        let end = now + input.step()
        let agent = agent
        drive(until: end, from: now, deadline: agent.nextDeadline) { agent.poll(at: $0) }
        now = end
      case 3: answer(&input)
      case 4:
        guard let candidate = candidate(input.byte()) else { break }
        agent.addRemoteCandidate(candidate)
      case 5: agent.endOfRemoteCandidates()
      case 6: agent.noteTraffic(at: now)
      case 7:
        agent.restart(at: now)
        if input.byte() & 1 != 0 {
          local = agent.localParameters.ufrag
          localPassword = Array(agent.localParameters.password.utf8)
        }
      case 8:
        let text = input.byte() & 1 == 0 ? "efgh" : "abcd"
        if let remote = try? ICEParameters(ufrag: text, password: remotePassword) {
          agent.setRemoteParameters(remote)
        }
      default: agent.isControlling.toggle()
      }
      drain()
    }

    /// A check that is signed as it should be, with attributes of the input's choice.
    private func request(_ input: inout FuzzInput) -> [UInt8] {
      let choice = input.byte()
      var attributes: [STUNAttribute] = [.username(Array("\(local):abcd".utf8))]
      if choice & 1 != 0 { attributes.append(.priority(UInt32(choice) << 24 | 0xFF)) }
      if choice & 2 != 0 { attributes.append(.useCandidate) }
      if choice & 4 != 0 { attributes.append(.iceControlling(UInt64(choice) << 56)) }
      if choice & 8 != 0 { attributes.append(.iceControlled(.max)) }
      if choice & 16 != 0 {
        attributes.append(.other(type: input.number16(), value: input.shortChunk()))
      }
      if choice & 32 != 0 { attributes.append(.priority(input.number32())) }
      return STUNMessage(
        choice & 64 != 0 ? .indication : .request,
        method: choice & 128 != 0 ? input.number16() & 0xFFF : STUNMessage.binding,
        transactionID: STUNTransactionID(random: transactions), attributes: attributes
      ).encoded(key: localPassword)
    }

    /// An answer to one of the agent's own requests, right or not.
    private mutating func answer(_ input: inout FuzzInput) {
      guard !sent.isEmpty else { return }
      let transmit = sent[Int(input.byte()) % sent.count]
      let choice = input.byte()
      guard
        let request = transmit.bytes.withUnsafeBytes({ try? STUNMessage(parsing: $0) }),
        request.messageClass == .request
      else { return }
      var attributes: [STUNAttribute] = []
      if choice & 1 == 0 { attributes.append(.xorMappedAddress(transmit.local)) }
      if choice & 2 != 0 { attributes.append(.xorMappedAddress(FuzzAddresses.remote(choice))) }
      if choice & 4 != 0 {
        attributes.append(.errorCode(choice & 8 != 0 ? 487 : 300 + Int(choice), reason: ""))
      }
      let bytes = STUNMessage(
        choice & 4 != 0 ? .error : .success, transactionID: request.transactionID,
        attributes: attributes
      ).encoded(key: choice & 16 != 0 ? localPassword : Array(remotePassword.utf8))
      receive(bytes, from: choice & 32 != 0 ? FuzzAddresses.remote(choice) : transmit.remote)
    }

    private func candidate(_ choice: UInt8) -> ICECandidate? {
      let address = FuzzAddresses.remote(choice)
      let type = ["host", "srflx raddr 0.0.0.0 rport 0", "relay"][Int(choice >> 2) % 3]
      let host = choice & 0x80 != 0 ? "name-\(choice).local" : "\(address.ip)"
      return try? ICECandidate(
        parsing:
          "candidate:\(choice) 1 udp \(UInt32(choice) << 24 | 1) \(host) \(address.port) typ \(type)"
      )
    }
  }
}
