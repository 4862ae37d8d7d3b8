import SoraICE
import SoraMedia
import Testing

private let peer = TransportAddress("203.0.113.9:5000")!

@Suite struct TURNRelayTests {
  @Test func anAllocationIsMadeWithSHA256WhereTheServerOffersIt() {
    for offers in [true, false] {
      let world = TURNWorld(seed: 1) { $0.offersSHA256 = offers }
      let (index, client) = world.allocated()
      #expect(client.relayedAddress != nil)
      #expect(
        world.events[index] == [
          .allocated(relayed: client.relayedAddress!, mapped: world.address(of: index))
        ])
      #expect(client.statistics.requestsSent == 2)
      #expect(client.statistics.unauthentic == 0)
      #expect(world.openRelays == [client.relayedAddress!])
    }
  }

  @Test func datagramsTravelBothWaysInIndications() {
    let world = TURNWorld(seed: 2)
    let (index, client) = world.allocated()
    client.permit(peer.ip, at: world.now)
    // Right behind the request, as a connectivity check goes.
    for size in [1, 2, 3, 4, 1200] {
      world.send([UInt8](repeating: UInt8(size % 251), count: size), from: index, to: peer)
    }
    world.run(for: .seconds(1))
    #expect(world.atPeer[peer]?.map(\.bytes.count) == [1, 2, 3, 4, 1200])
    #expect(world.atPeer[peer]?.allSatisfy { $0.from == client.relayedAddress } == true)
    world.send([7, 8, 9], fromPeer: peer, to: client.relayedAddress!)
    world.run(for: .seconds(1))
    #expect(world.received[index] == [.init(from: peer, bytes: [7, 8, 9])])
    #expect(world.channelDataSent == 0)
  }

  @Test func aBoundChannelCarriesDatagramsInFourBytes() {
    for isStream in [false, true] {
      let world = TURNWorld(seed: 3)
      let (index, client) = world.allocated(isStream: isStream)
      client.permit(peer.ip, at: world.now)
      client.bindChannel(peer, at: world.now)
      world.run(for: .seconds(1))
      for size in 1...9 { world.send([UInt8](repeating: 5, count: size), from: index, to: peer) }
      world.send([1, 2, 3], fromPeer: peer, to: client.relayedAddress!)
      world.run(for: .seconds(1))
      #expect(world.channelDataSent == 9)
      #expect(world.atPeer[peer]?.map(\.bytes.count) == Array(1...9))
      #expect(world.received[index] == [.init(from: peer, bytes: [1, 2, 3])])
    }
  }

  @Test func sixteenBytesOfAddressTravelToo() {
    let world = TURNWorld(seed: 4)
    let (index, client) = world.allocated(family: .ipv6)
    #expect(client.relayedAddress?.ip.isV6 == true)
    let peer = TransportAddress("[2001:db8::9]:5000")!
    client.permit(peer.ip, at: world.now)
    world.send([1, 2, 3, 4, 5], from: index, to: peer)
    world.run(for: .seconds(1))
    #expect(world.atPeer[peer]?.map(\.bytes) == [[1, 2, 3, 4, 5]])
    world.send([6], fromPeer: peer, to: client.relayedAddress!)
    client.bindChannel(peer, at: world.now)
    world.run(for: .seconds(1))
    world.send([9, 9], from: index, to: peer)
    world.send([7], fromPeer: peer, to: client.relayedAddress!)
    world.run(for: .seconds(1))
    #expect(world.atPeer[peer]?.last?.bytes == [9, 9])
    #expect(world.received[index].map(\.bytes) == [[6], [7]])
  }

  @Test func nobodyPassesWithoutAPermission() {
    let world = TURNWorld(seed: 5)
    let (index, client) = world.allocated()
    world.send([1], from: index, to: peer)
    world.send([2], fromPeer: peer, to: client.relayedAddress!)
    world.run(for: .seconds(1))
    #expect(world.atPeer.isEmpty)
    #expect(world.received[index].isEmpty)
    #expect(world.server.statistics.notPermitted == 1)
  }

  @Test func anAllocationIsMadeOverALinkThatLosesAFifth() {
    for seed in 10..<40 as Range<UInt64> {
      let world = TURNWorld(seed: seed)
      world.loss = 0.2
      let index = world.add()
      world.clients[index].start(at: world.now)
      world.run(for: .seconds(20))
      #expect(world.clients[index].relayedAddress != nil, "seed \(seed)")
      // A lost answer must not leave a second allocation behind.
      #expect(world.openRelays.count == 1, "seed \(seed)")
    }
  }

  @Test func closingGivesTheAllocationBack() {
    let world = TURNWorld(seed: 6) { $0.nonceLifetime = .seconds(30) }
    let (_, client) = world.allocated()
    world.run(for: .seconds(60))
    // The nonce is stale by now: the farewell takes two rounds.
    client.close(at: world.now)
    world.run(for: .seconds(2))
    #expect(client.state == .closed)
    #expect(world.server.allocationCount == 0)
    #expect(world.openRelays.isEmpty)
    #expect(client.nextDeadline == nil)
  }

  @Test func aStreamThatEndsTakesItsAllocationAlong() {
    let world = TURNWorld(seed: 7)
    let (index, client) = world.allocated(isStream: true)
    world.server.clientGone(
      .init(local: TURNWorld.serverAddress, remote: world.address(of: index), isStream: true))
    client.connectionEnded(.disconnected(reason: "reset"))
    #expect(world.openRelays.isEmpty)
    #expect(client.nextDeadline == nil)
    world.run(for: .seconds(1))
    #expect(world.events[index].last == .failed(.disconnected(reason: "reset")))
  }
}

@Suite struct TURNTimerTests {
  /// Refreshes, permissions, channels and nonces, over a link that loses a fiftieth.
  @Test func aDayOfTimersLosesNothing() {
    let world = TURNWorld(seed: 20)
    world.loss = 0.02
    let (index, client) = world.allocated()
    client.permit(peer.ip, at: world.now)
    client.bindChannel(peer, at: world.now)
    world.run(for: .seconds(10))
    for hour in 1...24 {
      world.run(for: .seconds(3600))
      #expect(client.relayedAddress != nil, "hour \(hour)")
      // Some of a handful get through, each hour.
      let before = world.atPeer[peer]?.count ?? 0
      for _ in 0..<4 { world.send([UInt8(hour)], from: index, to: peer) }
      for _ in 0..<4 {
        world.send([UInt8(hour)], fromPeer: peer, to: client.relayedAddress!)
      }
      world.run(for: .seconds(1))
      #expect((world.atPeer[peer]?.count ?? 0) > before, "hour \(hour)")
      #expect(world.received[index].last?.bytes == [UInt8(hour)], "hour \(hour)")
    }
    #expect(world.events[index].count == 1)
    #expect(world.server.statistics.allocationsMade == 1)
    // An allocation every 9 minutes, a permission every 4 and a channel every 9, with stale nonces and what was lost.
    #expect((600...900).contains(client.statistics.requestsSent))
    #expect(world.channelDataSent == 24 * 4)
  }

  @Test func aServerThatVanishesIsNoticedWhenTheAllocationRunsOut() {
    let world = TURNWorld(seed: 21)
    let (index, client) = world.allocated()
    world.isCut = true
    world.run(for: .seconds(590))
    #expect(client.relayedAddress != nil)
    world.run(for: .seconds(30))
    #expect(world.events[index].last == .failed(.allocationLost))
    // The server lets go as well.
    #expect(world.openRelays.isEmpty)
  }

  @Test func aPathThatComesBackInTimeKeepsTheAllocation() {
    let world = TURNWorld(seed: 22)
    let (index, client) = world.allocated()
    world.run(for: .seconds(530))
    world.isCut = true
    world.run(for: .seconds(40))
    world.isCut = false
    world.run(for: .seconds(600))
    #expect(client.relayedAddress != nil)
    #expect(world.events[index].count == 1)
  }

  @Test func aPermissionThatNobodyRefreshesRunsOut() {
    let world = TURNWorld(seed: 23)
    let (index, client) = world.allocated()
    client.permit(peer.ip, at: world.now)
    world.run(for: .seconds(1))
    let relay = client.relayedAddress!
    world.isCut = true
    world.run(for: .seconds(298))
    world.send([1], fromPeer: peer, to: relay)
    world.run(for: .seconds(2))
    world.send([2], fromPeer: peer, to: relay)
    world.run(for: .seconds(1))
    #expect(world.received[index].map(\.bytes) == [[1]])
    #expect(world.server.statistics.notPermitted == 1)
  }
}
