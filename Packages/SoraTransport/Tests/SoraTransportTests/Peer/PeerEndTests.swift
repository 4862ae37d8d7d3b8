import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing

/// How a transport ends, and what it takes without ending.
@Suite struct PeerEndTests {
  @Test(arguments: [true, false])
  func aVanishedPeerIsNoticedOnce(lite: Bool) throws {
    let pair = try PeerPair(lite: lite)
    #expect(pair.connect())
    pair.network.run(for: .seconds(10))
    let vanished = pair.network.now
    pair.link.forwardConditions.isUp = false
    pair.link.backwardConditions.isUp = false
    pair.network.run(for: .seconds(30))
    for peer in [pair.a, pair.b] {
      let ends = peer.states.filter { $0.state == .failed(.consentLost) }
      #expect(ends.count == 1, "\(peer.name) \(peer.states)")
      let took = try #require(ends.first?.at) - vanished
      print(
        "\(lite ? "lite" : "full") \(peer.name): vanished peer noticed after \(took.inMilliseconds) ms"
      )
      #expect(took <= .seconds(5.2))
      #expect(peer.states.contains { $0.state == .disconnected })
      #expect(!peer.transport.isWritable)
      #expect(peer.nextDeadline == nil, "nothing runs on after the end")
    }
    #expect(pair.network.overduePolls == 0)
  }

  @Test func aShortOutageIsSurvived() throws {
    let pair = try PeerPair()
    #expect(pair.connect())
    pair.network.run(for: .seconds(5))
    pair.link.forwardConditions.isUp = false
    pair.network.run(for: .seconds(3.5))
    #expect(pair.a.transport.state == .disconnected)
    pair.link.forwardConditions.isUp = true
    pair.network.run(for: .seconds(5))
    #expect(pair.a.transport.state == .connected && pair.b.transport.state == .connected)
    #expect(pair.a.sendPlain(1))
  }

  @Test func closingIsToldToThePeer() throws {
    let pair = try PeerPair()
    #expect(pair.connect())
    pair.a.transport.close(at: pair.network.now)
    pair.a.transport.close(at: pair.network.now)
    pair.network.run(for: .seconds(1))
    #expect(pair.a.states.map(\.state) == [.connecting, .connected, .closed])
    #expect(pair.b.states.map(\.state) == [.connecting, .connected, .failed(.closedByPeer)])
    #expect(pair.a.transport.nextDeadline == nil && pair.b.transport.nextDeadline == nil)
    #expect(!pair.a.sendPlain(1))
    #expect(pair.a.transport.statistics.dropped.notConnected == 1)
    // An agent that was closed answers nobody.
    let answers = pair.a.transport.ice.statistics.requestsReceived
    pair.network.run(for: .seconds(10))
    #expect(pair.a.transport.ice.statistics.requestsReceived == answers)
  }

  @Test func aFloodOfGarbageIsCountedAndSurvived() throws {
    let pair = try PeerPair()
    pair.a.usesSession = false
    pair.b.usesSession = false
    #expect(pair.connect())
    let random = RandomSource(seed: 5)
    let stranger = TransportAddress(ip: IPAddress(v4: 0x0A00_0063), port: 9)
    let before = pair.b.transport.statistics.datagramsReceived
    var now = pair.network.now
    for round in 0..<20_000 {
      let size = 1 + Int(random.next() % 1400)
      var bytes = random.bytes(size)
      // Every kind that the demultiplexer knows gets its share.
      switch round % 5 {
      case 0: bytes[0] = UInt8(random.next() % 4)
      case 1: bytes[0] = 20 + UInt8(random.next() % 44)
      case 2: bytes[0] = 0x80
      case 3 where size > 1:
        bytes[0] = 0x80
        bytes[1] = 200
      default: break
      }
      now = now + .microseconds(10)
      let source = round % 2 == 0 ? stranger : pair.a.address
      bytes.withUnsafeMutableBytes {
        pair.b.transport.receive($0, from: source, on: pair.b.address, at: now)
      }
    }
    pair.network.run(until: now)
    let statistics = pair.b.transport.statistics
    #expect(statistics.datagramsReceived - before >= 20_000)
    print("garbage: \(statistics.dropped), STUN drops \(pair.b.transport.ice.statistics)")
    #expect(statistics.dropped.unknownProtocol > 500)
    #expect(statistics.dropped.unauthenticated + statistics.dropped.malformed > 8_000)
    #expect(pair.b.transport.state == .connected)
    pair.network.run(for: .seconds(10))
    #expect(pair.a.transport.state == .connected && pair.b.transport.state == .connected)
    let received = pair.b.rtpPackets
    for number in 0..<50 { pair.a.sendPlain(UInt16(number)) }
    pair.network.run(for: .seconds(1))
    #expect(pair.b.rtpPackets - received == 50)
  }

  @Test func aRepeatedPacketIsDropped() throws {
    let pair = try PeerPair(LinkConditions(delay: .milliseconds(10), duplication: 0.5))
    pair.a.usesSession = false
    pair.b.usesSession = false
    #expect(pair.connect())
    for number in 0..<200 { pair.a.sendPlain(UInt16(number)) }
    pair.network.run(for: .seconds(1))
    #expect(pair.b.rtpPackets == 200)
    #expect(pair.b.transport.statistics.dropped.replayed > 50)
  }
}
