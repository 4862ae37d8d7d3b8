import SoraICE
import SoraMedia
import Testing

private func parseDNS(_ bytes: [UInt8]) throws(DNSMessage.Failure) -> DNSMessage {
  let result: Result<DNSMessage, DNSMessage.Failure> = bytes.withUnsafeBytes { pointer in
    do throws(DNSMessage.Failure) { return .success(try DNSMessage(parsing: pointer)) } catch {
      return .failure(error)
    }
  }
  return try result.get()
}

private let name = "1f2b7a36-0000-4000-8000-a1b2c3d4e5f6.local"

@Suite struct DNSMessageTests {
  @Test func whatIsWrittenIsRead() throws {
    let question = DNSMessage(id: 7, questions: [name])
    // A and AAAA are asked for, so the name comes twice.
    #expect(try parseDNS(question.encoded()!).questions == [name, name])
    let answer = DNSMessage(
      id: 7, isResponse: true,
      addresses: [
        .init(name: name, address: IPAddress("192.0.2.7")!, timeToLive: 120),
        .init(name: name, address: IPAddress("2001:db8::7")!, timeToLive: 120),
      ])
    #expect(try parseDNS(answer.encoded()!) == answer)
  }

  /// As a responder sends it: names compressed (RFC 1035 §4.1.4), the cache-flush bit set (RFC 6762 §10.2), a record of another type first.
  @Test func compressedNamesAreFollowed() throws {
    let bytes = Vectors.hex(
      """
      0000 8400 0000 0002 0000 0001
      04 486f7374 05 6c6f63616c 00  000c 0001 00000078 0002 c00c
      c00c 0001 8001 00000078 0004 c0000207
      04 6d6f7265 c011 001c 0001 00000078 0010 20010db8000000000000000000000009
      """)
    let message = try parseDNS(bytes)
    #expect(
      message.addresses == [
        .init(name: "host.local", address: IPAddress("192.0.2.7")!, timeToLive: 120),
        .init(name: "more.local", address: IPAddress("2001:db8::9")!, timeToLive: 120),
      ])
  }

  @Test func nonsenseIsRefused() {
    func check(_ failure: DNSMessage.Failure, _ text: String) {
      #expect(throws: failure) { try parseDNS(Vectors.hex(text)) }
    }
    check(.truncated, "0000 8400 0000 0001")
    // A name that points to itself, one that points forward, and a loop of two.
    check(.malformedName, "0000 8400 0001 0000 0000 0000 c00c 0001 0001")
    check(.malformedName, "0000 8400 0001 0000 0000 0000 c010 0001 0001 00")
    check(.malformedName, "0000 8400 0001 0000 0000 0000 01 61 c00e c00c 0001 0001")
    check(.malformedName, "0000 8400 0001 0000 0000 0000 80 00 0001 0001")
    check(.truncated, "0000 8400 0001 0000 0000 0000 3f 61")
    check(.truncated, "0000 8400 0000 0001 0000 0000 00 0001 0001 00000078 0004 c000")
    check(.tooManyRecords, "0000 8400 ffff ffff ffff ffff")
  }

  @Test func mutationsNeverTrap() {
    let random = RandomSource(seed: 3)
    let seed = DNSMessage(
      id: 1, isResponse: true, questions: [name],
      addresses: [.init(name: name, address: IPAddress("192.0.2.7")!, timeToLive: 1)]
    ).encoded()!
    var read = 0
    for _ in 0..<20_000 {
      var bytes = seed
      for _ in 0...(random.next() % 5) {
        bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      if (try? parseDNS(bytes)) != nil { read += 1 }
    }
    #expect(read > 0 && read < 20_000)
  }
}

@Suite struct MulticastDNSTests {
  @Test func theLinkIsAskedFourTimesAndThenGivenUp() throws {
    var query = try #require(MulticastDNS(name, random: RandomSource(seed: 1)))
    var now = Instant.zero
    var sent = 0
    while case .send(let bytes) = query.poll(at: now) {
      sent += 1
      #expect(try parseDNS(bytes).questions.first == name)
      #expect(query.poll(at: now) == .nothing)
      now = try #require(query.nextDeadline)
    }
    #expect(sent == 4)
    #expect(query.nextDeadline == nil)
    #expect(now == Instant.zero + .milliseconds(3750))
  }

  @Test func onlyAnAnswerToTheQuestionCounts() throws {
    var query = try #require(MulticastDNS(name.uppercased() + ".", random: RandomSource(seed: 1)))
    guard case .send(let bytes) = query.poll(at: .zero) else {
      Issue.record("nothing was asked")
      return
    }
    let id = try parseDNS(bytes).id
    func answer(
      _ id: UInt16, _ name: String, _ address: String = "192.0.2.7", ttl: UInt32 = 120,
      isResponse: Bool = true
    ) -> IPAddress? {
      let message = DNSMessage(
        id: id, isResponse: isResponse,
        addresses: [.init(name: name, address: IPAddress(address)!, timeToLive: ttl)])
      return message.encoded()!.withUnsafeBytes { query.receive($0) }
    }
    #expect(answer(id, "other.local") == nil)
    #expect(answer(id ^ 1, name) == nil)
    #expect(answer(id, name, isResponse: false) == nil)
    #expect(answer(id, name, ttl: 0) == nil)
    #expect(answer(id, name, "224.0.0.1") == nil)
    #expect(answer(id, name) == IPAddress("192.0.2.7"))
    #expect(answer(0, name) == IPAddress("192.0.2.7"))
  }

  @Test func namesOfTheLinkAreKnown() {
    #expect(MulticastDNS.isLocal("a.local") && MulticastDNS.isLocal("A.LOCAL."))
    #expect(!MulticastDNS.isLocal("local") && !MulticastDNS.isLocal("a.local.example.org"))
    let long = String(repeating: "a", count: 64) + ".local"
    #expect(MulticastDNS(long, random: RandomSource(seed: 1)).map { _ in true } == nil)
  }
}
