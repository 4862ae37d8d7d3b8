import SoraICE
import SoraMedia
import Testing

/// Mutated and random input never traps; a failing seed is in the test's name.
@Suite struct ICEHostileInputTests {
  static func mutate(_ input: [UInt8], _ random: RandomSource) -> [UInt8] {
    var bytes = input
    for _ in 0...(random.next() % 4) {
      switch random.next() % 6 {
      case 0 where !bytes.isEmpty:
        bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
      case 1 where !bytes.isEmpty:
        bytes[Int(random.next() % UInt64(bytes.count))] ^= 1 << (random.next() % 8)
      case 2: bytes = Array(bytes.prefix(Int(random.next() % UInt64(bytes.count + 1))))
      case 3: bytes += random.bytes(Int(random.next() % 24))
      case 4 where bytes.count > 4:
        bytes.removeSubrange(0..<Int(random.next() % 4))
      default:
        let position = Int(random.next() % UInt64(bytes.count + 1))
        bytes.insert(contentsOf: random.bytes(4), at: position)
      }
    }
    // Half of the messages get a length that fits, so that the attributes are reached.
    if bytes.count >= 20, random.next() & 1 == 0 {
      let length = bytes.count - 20
      bytes[2] = UInt8(truncatingIfNeeded: length >> 8)
      bytes[3] = UInt8(truncatingIfNeeded: length)
    }
    return bytes
  }

  @Test(arguments: [1, 2] as [UInt64])
  func mutatedMessages(seed: UInt64) {
    let random = RandomSource(seed: seed)
    let vectors = [Vectors.request, Vectors.responseV4, Vectors.responseV6, Vectors.longTerm]
    var accepted = 0
    for _ in 0..<20_000 {
      let bytes = Self.mutate(vectors[Int(random.next() % 4)], random)
      guard let message = try? parse(bytes) else { continue }
      accepted += 1
      _ = bytes.withUnsafeBytes { message.isAuthentic($0, key: Vectors.password) }
      // What was understood can be written and read again.
      #expect(
        (try? parse(message.encoded(key: Vectors.password)))?.attributes == message.attributes)
    }
    #expect(accepted > 1_000)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func mutatedCandidateLines(seed: UInt64) {
    let random = RandomSource(seed: seed)
    let lines = ICECandidateTests.lines.map { Array($0.utf8) }
    var accepted = 0
    for _ in 0..<20_000 {
      let bytes = Self.mutate(lines[Int(random.next() % UInt64(lines.count))], random)
      let line = String(decoding: bytes, as: UTF8.self)
      _ = IPAddress(line)
      _ = TransportAddress(line)
      guard let candidate = try? ICECandidate(parsing: line) else { continue }
      accepted += 1
      #expect((try? ICECandidate(parsing: candidate.sdp)) == candidate)
    }
    #expect(accepted > 500)
  }

  /// An agent in the middle of its work takes 20,000 datagrams of nonsense and still connects, with bounded memory and few answers.
  @Test(arguments: [true, false])
  func agentsShrugItOff(lite: Bool) {
    let random = RandomSource(seed: 3)
    let link = lite ? LossyLink.lite(seed: 3) : LossyLink.full(seed: 3)
    link.start()
    let agent = link.nodes[1].agent
    let id = STUNTransactionID(random: random)
    let username = Array(
      "\(agent.localParameters.ufrag):\(link.nodes[0].agent.localParameters.ufrag)".utf8)
    let genuine = STUNMessage(
      .request, transactionID: id,
      attributes: [.username(username), .priority(1), .iceControlling(5), .useCandidate])
    let key = Array(agent.localParameters.password.utf8)
    for index in 0..<20_000 {
      let from = TransportAddress(ip: IPAddress(v4: 0x0B00_0000 | UInt32(index)), port: 9)
      link.inject(Self.mutate(genuine.encoded(key: key), random), into: 1, from: from)
      if index % 1000 == 0 { link.run(for: .milliseconds(2)) }
    }
    #expect(link.run(for: .seconds(12)) { link.nodes[1].agent.selectedPair != nil })
    #expect(agent.remoteCandidateCount <= 64 && agent.pairStatistics.count <= 256)
    #expect(agent.statistics.dropped(.malformed) > 1000)
    #expect(agent.statistics.dropped(.badFingerprint) > 100)
    #expect(agent.statistics.errorResponsesSent < 1000)
  }

  @Test func strangersGetErrors() throws {
    let link = LossyLink.full(seed: 4)
    link.start()
    link.run(for: .seconds(1))
    let agent = link.nodes[1].agent
    let stranger = TransportAddress("10.9.9.9:9")!
    let random = RandomSource(seed: 4)
    func ask(_ attributes: [STUNAttribute], key: [UInt8]?) throws -> STUNMessage? {
      link.run(for: .milliseconds(100))
      let message = STUNMessage(
        .request, transactionID: .init(random: random), attributes: attributes)
      let bytes = message.encoded(key: key)
      bytes.withUnsafeBytes {
        agent.receive($0, from: stranger, on: link.nodes[1].addresses[0], at: link.now)
      }
      return try agent.nextTransmit().map { try parse($0.bytes) }
    }
    let user = STUNAttribute.username(
      Array("\(agent.localParameters.ufrag):\(link.nodes[0].agent.localParameters.ufrag)".utf8))
    let key = Array(agent.localParameters.password.utf8)
    #expect(try ask([], key: nil)?.errorCode == 400)
    #expect(try ask([user], key: nil)?.errorCode == 400)
    #expect(try ask([.username(Array("x:y".utf8))], key: key)?.errorCode == 401)
    #expect(try ask([user], key: [1])?.errorCode == 401)
    // RFC 8489 §6.3.1.
    let refused = try ask([user, .other(type: 0x7777, value: [1])], key: key)
    #expect(refused?.errorCode == 420)
    #expect(refused?.attributes.contains(.unknownAttributes([0x7777])) == true)
    #expect(try ask([user, .other(type: 0xC777, value: [1])], key: key)?.messageClass == .success)
    #expect(agent.statistics.dropped(.missingCredentials) == 2)
    #expect(agent.statistics.dropped(.unknownUsername) == 1)
    #expect(agent.statistics.dropped(.badIntegrity) == 1)
    #expect(agent.statistics.dropped(.unknownAttribute) == 1)
    // A burst gets one answer in 50 ms.
    for _ in 0..<100 { link.inject(Vectors.request, into: 1, from: stranger) }
    #expect(agent.statistics.dropped(.errorRateLimit) >= 99)
  }
}
