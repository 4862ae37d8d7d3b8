import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraWire
import Testing

/// Notes what it is told about its datagrams.
private final class Sender: SimulatedEndpoint {
  var reports: [(to: TransportAddress, limit: Int, at: Instant)] = []

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {}
  func poll(at now: Instant) {}
  var nextDeadline: Instant? { nil }

  func tooLarge(
    from local: TransportAddress, to remote: TransportAddress, maximumPayload: Int, at now: Instant
  ) {
    reports.append((remote, maximumPayload, now))
  }
}

@Suite struct PathMTUTests {
  /// The narrow link lies behind a translator, whose address the sender doesn't have.
  @Test(arguments: [true, false])
  func anHonestLinkTellsTheSenderAndABlackHoleDoesNot(isHonest: Bool) {
    let network = SimulatedNetwork(seed: 1)
    defer { network.removeAllEndpoints() }
    let internet = network.addRouter("internet")
    let nat = network.addNAT(
      "nat", .portRestrictedCone, outside: [IPAddress("198.51.100.1")!], uplink: internet)
    let inside = network.addHost("inside", "10.0.0.2")
    network.link(inside, nat.router, LinkConditions(delay: .milliseconds(10)))
    let narrow = network.link(
      internet, network.addHost("outside", "192.0.2.1"),
      LinkConditions(maximumPayload: 1172, reportsTooLarge: isHonest))
    let sender = Sender()
    let counter = Counter()
    let from = TransportAddress("10.0.0.2:5000")!
    let to = TransportAddress("192.0.2.1:9")!
    network.bind(sender, to: from)
    network.bind(counter, to: to)
    for size in [1172, 1173] {
      network.send([UInt8](repeating: 1, count: size), from: from, to: to)
    }
    network.run(for: .seconds(1))
    #expect(counter.numbers.count == 1)
    #expect(narrow.forwardStatistics.droppedTooLarge == 1)
    #expect(sender.reports.map(\.to) == (isHonest ? [to] : []))
    #expect(sender.reports.allSatisfy { $0.limit == 1172 && $0.at == .zero + .milliseconds(20) })
  }

  /// What nobody has set fits too, where larger packets vanish without a word (RFC 2923 §2.1).
  @Test(arguments: [Access.stun, .turnUDP])
  func theDefaultsPassABlackHole(access: Access) throws {
    let place = access == .stun ? Place.portRestrictedCone : .symmetric
    let world = try HostileWorld(
      seed: 1200, place, place, access,
      conditions: LinkConditions(delay: .milliseconds(10), maximumPayload: 1200 - 28)
    ) { $0.dtls = NativeDTLSFactory() }
    #expect(world.connect(), "\(world.story)")
    #expect(world.exchange(for: .seconds(1)).atB >= 50)
  }

  /// IP packets of 1,200 to 1,500 bytes: the handshake and ICE fit into all, and so do media packets where they are made for it.
  @Test(arguments: Array(stride(from: 1200, through: 1500, by: 50)))
  func aCallComesUpWithEveryMTU(mtu: Int) throws {
    // RFC 791 and RFC 768: 28 bytes of headers.
    let conditions = LinkConditions(delay: .milliseconds(10), maximumPayload: mtu - 28)
    for access in [Access.stun, .turnUDP] {
      let place = access == .stun ? Place.portRestrictedCone : .symmetric
      let world = try HostileWorld(
        seed: UInt64(mtu), place, place, access, conditions: conditions
      ) { configuration in
        var dtls = NativeDTLSFactory()
        dtls.settings.mtu = mtu - 28 - 4 - 36
        configuration.dtls = dtls
      }
      #expect(world.connect(), "\(mtu) \(access) \(world.story)")
      world.network.run(for: .seconds(1))
      let dropped = world.links.map {
        $0.forwardStatistics.droppedTooLarge + $0.backwardStatistics.droppedTooLarge
      }
      #expect(dropped == [0, 0])
      // Sixteen bytes of tag, and four of a channel's header where a relay is used.
      let room = mtu - 28 - 16 - (access == .stun ? 0 : 4)
      let before = world.b.packetsReceived
      world.a.send(1, size: room)
      world.network.run(for: .seconds(1))
      #expect(world.b.packetsReceived == before + 1, "\(mtu) \(access)")
      // One byte more is too much: over datagrams ChannelData isn't padded (RFC 8656 §12.5).
      world.a.send(2, size: room + 1)
      world.network.run(for: .seconds(1))
      #expect(world.b.packetsReceived == before + 1, "\(mtu) \(access)")
      #expect(world.areConnected)
    }
  }
}
