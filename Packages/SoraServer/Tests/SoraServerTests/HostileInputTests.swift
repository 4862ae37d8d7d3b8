import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraServer
import SoraTransport
import Testing

/// Whatever arrives, the server lives on and others don't notice.
struct HostileInputTests {
  @Test func mutatedDatagramsAreDroppedAndCounted() throws {
    let network = SimulatedNetwork(seed: 41)
    let server = try TestServer(network)
    let a = try ScriptedClient("a", 1, server).connect(.sendrecv)
    let b = try ScriptedClient("b", 2, server).connect(.sendrecv)
    #expect(network.run(until: { a.isConnected && b.isConnected }, within: .seconds(5)))
    network.run(for: .milliseconds(500))
    let ufrag = b.offers[0].media[0].attribute("ice-ufrag") ?? ""
    let random = RandomSource(seed: 5)
    let stun = STUNMessage(
      .request, transactionID: STUNTransactionID(random: random),
      attributes: [.username(Array("\(ufrag):xxxx".utf8))]
    ).encoded(key: Array("wrong password, wrong password".utf8))
    let known = [
      stun, [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4],
      [0x80, 109, 0, 1, 0, 0, 0, 1, 0, 0, 4, 87, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      [0x80, 201, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
    let stranger = TransportAddress(ip: IPAddress(v4: 0x0A00_0909), port: 9)
    let local = TransportAddress(ip: server.host.addresses[0], port: 4000)
    for round in 0..<12_000 {
      var bytes = known[Int(random.next() % 4)]
      for _ in 0..<(random.next() % 6) where !bytes.isEmpty {
        let index = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 3 {
        case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
        default: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
        }
      }
      let source = round % 2 == 0 ? stranger : a.address
      bytes.withUnsafeMutableBytes {
        server.core.received($0, from: source, on: local, at: network.now)
      }
    }
    network.deadlinesChanged()
    network.run(for: .seconds(1))
    a.send(.video, sequence: 1, timestamp: 1)
    network.run(for: .milliseconds(200))
    #expect(b.packets(of: a, .video).media.count == 1)
    #expect(server.core.dropped.unknownAddress > 1000)
    #expect(server.core.dropped.malformedSTUN > 100)
    // A stranger with a right user name and a wrong key learns no address.
    #expect(a.closed == nil && b.closed == nil)
  }

  /// What a client may send after its keys are right is no more to be trusted than what comes before.
  @Test func mutatedPlainPacketsHarmNobody() throws {
    let network = SimulatedNetwork(seed: 42)
    let server = try TestServer(network)
    let a = try ScriptedClient("a", 1, server).connect(.sendrecv)
    let b = try ScriptedClient("b", 2, server).connect(.sendrecv)
    #expect(network.run(until: { b.sections(of: a, .video).count == 1 }, within: .seconds(5)))
    network.run(for: .milliseconds(500))
    let random = RandomSource(seed: 6)
    let types = a.offers[0].media.flatMap { $0.codecs.map(\.payloadType) }
    for round in 0..<12_000 {
      var bytes = (0..<Int(12 + random.next() % 80)).map { _ in
        UInt8(truncatingIfNeeded: random.next())
      }
      if round % 2 == 0 {
        bytes[0] = 0x80 | bytes[0] & 0x3F
        bytes[1] = bytes[1] & 0x80 | types[Int(random.next() % UInt64(types.count))]
        if round % 4 == 0 { for index in 8..<11 { bytes[index] = 0 } }
        _ = bytes.withUnsafeBytes { a.transport.sendRTP($0) }
      } else {
        bytes[0] = 0x80 | bytes[0] & 0x1F
        bytes[1] = UInt8(200 + random.next() % 8)
        bytes[2] = 0
        bytes[3] = UInt8(random.next() % 20)
        a.transport.sendRTCP(capacity: bytes.count) { slot in
          slot.copyBytes(from: bytes)
          return bytes.count
        }
      }
      if round % 200 == 0 { network.run(for: .milliseconds(20)) }
    }
    network.run(for: .seconds(2))
    let status = try #require(server.status(a))
    #expect(status.dropped.malformedRTCP > 100)
    #expect(status.dropped.malformedRTP > 0)
    #expect(a.closed == nil && b.closed == nil)
    b.send(.audio, sequence: 1, timestamp: 1)
    network.run(for: .milliseconds(200))
    #expect(a.packets(of: b, .audio).media.count == 1)
  }

  @Test func mutatedMessagesEndAtMostTheirOwnConnection() throws {
    let network = SimulatedNetwork(seed: 43)
    let server = try TestServer(network) { $0.maximumPeers = 20_000 }
    let good = try ScriptedClient("good", 1, server).connect(.recvonly)
    #expect(network.run(until: { good.isConnected }, within: .seconds(5)))
    let random = RandomSource(seed: 7)
    let connect =
      #"{"type":"connect","role":"sendrecv","channel_id":"room","audio":{"bit_rate":64},"#
      + #""video":{"codec_type":"VP8","bit_rate":300},"metadata":{"a":[1,2.5,null]}}"#
    let answer = try #require(good.answers.first).text
    for round in 0..<10_000 {
      guard let peer = server.core.accept(at: network.now) else { break }
      func mutate(_ text: String) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<(random.next() % 4) where !bytes.isEmpty {
          let index = Int(random.next() % UInt64(bytes.count))
          switch random.next() % 3 {
          case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
          case 1: bytes.removeSubrange(index..<min(bytes.count, index + 5))
          default: bytes.insert(contentsOf: bytes[index...].prefix(7), at: index)
          }
        }
        return String(decoding: bytes, as: UTF8.self)
      }
      server.core.receive(SFUMessage(parsing: mutate(connect)), from: peer, at: network.now)
      server.core.receive(.answer(sdp: mutate(answer)), from: peer, at: network.now)
      server.core.receive(
        .candidate(mutate("candidate:1 1 udp 2 10.0.0.9 9 typ host")), from: peer, at: network.now)
      if round % 2 == 0 {
        server.core.receive(
          SFUMessage(parsing: mutate(#"{"type":"disconnect"}"#)), from: peer, at: network.now)
      }
      server.core.signalingLost(peer, at: network.now)
    }
    network.deadlinesChanged()
    network.run(for: .seconds(1))
    #expect(good.closed == nil && good.isConnected)
    #expect(server.core.status.count == 1)
  }
}
