import SoraMedia
import SoraSCTP
import Testing

/// The reordering window (RFC 8985 §6.2): how long a chunk that later ones have overtaken is waited for. A fourth of the shortest round
/// trip at first, 10 ms here, and more where that was too short.
@Suite struct ReorderingTests {
  /// 40 ms there and back, and at most 60 kB on the way, one chunk a packet.
  private func world(lateness: Duration) -> World {
    let world = World(link: .init(delay: .milliseconds(20)), seed: 3)
    #expect(world.connect())
    world.b.keepsMessages = false
    let message = pattern(1000, 1)
    world.app = { world in
      while world.a.association.totalBufferedAmount < 60_000 {
        try? world.a.association.send(message, at: world.now)
      }
    }
    world.run(for: .seconds(1))
    #expect(world.a.association.statistics.chunksRetransmitted == 0)
    reorder(world, by: lateness)
    return world
  }

  private func reorder(_ world: World, by lateness: Duration) {
    world.there.conditions.reordering = 0.05
    world.there.conditions.lateness = lateness
  }

  /// How many chunks are sent again meanwhile, while none is lost.
  private func needless(_ world: World, within duration: Duration) -> UInt64 {
    let before = world.a.association.statistics.chunksRetransmitted
    world.run(for: duration)
    return world.a.association.statistics.chunksRetransmitted - before
  }

  /// Loses a packet. Returns how long after it was sent its chunk was sent again.
  private func lose(_ world: World) -> Duration? {
    var lost: (tsn: ArraySlice<UInt8>, at: Instant)?
    var again: Instant?
    world.there.drops = { packet in
      guard packet[12] == 64 else { return false }
      if let lost {
        if packet[16..<20] == lost.tsn, again == nil { again = world.now }
        return false
      }
      lost = (packet[16..<20], world.now)
      return true
    }
    world.run(for: .milliseconds(300))
    world.there.drops = nil
    return lost.flatMap { lost in again.map { $0 - lost.at } }
  }

  /// Else the sender would take a chunk for lost that has come.
  @Test func whatClosesAGapIsAcknowledgedAtOnce() {
    let peer = RawPeer()
    #expect(peer.connect())
    // The first packet is acknowledged at once, whatever it brings.
    _ = peer.send(peer.data(peer.firstTSN, [1]))
    #expect(peer.send(peer.data(peer.firstTSN &+ 2, [1])).types == [3])
    let closing = peer.send(peer.data(peer.firstTSN &+ 1, [1]))
    #expect(closing.types == [3])
    #expect(closing.chunk(3).map { Array($0.value[..<4]) } == RawPeer.words(peer.firstTSN &+ 2))
    // What is in order waits for a second packet.
    #expect(peer.send(peer.data(peer.firstTSN &+ 3, [1])).isEmpty)
    #expect(peer.send(peer.data(peer.firstTSN &+ 4, [1])).types == [3])
  }

  @Test func whatIsLateWithinTheWindowIsNotSentAgain() {
    let world = world(lateness: .milliseconds(6))
    // That this path reorders isn't known at first: three that overtake one speak of a loss.
    world.run(for: .seconds(1))
    #expect(needless(world, within: .seconds(10)) == 0)
    #expect(world.there.carried > 5000)
  }

  @Test func theWindowGrowsUntilNothingIsSentAgainInVain() {
    let world = world(lateness: .milliseconds(25))
    let first = needless(world, within: .seconds(2))
    #expect(first > 0)
    #expect(world.a.association.statistics.spuriousRetransmissions > 0)
    #expect(needless(world, within: .seconds(10)) == 0)
    // Three fourths of the round trip, and a real loss is still found by them.
    world.there.conditions.reordering = 0
    let took = lose(world)
    print("sent again after \(took.map { "\($0.inMilliseconds)" } ?? "never") ms, in vain \(first)")
    #expect(took.map { $0 >= .milliseconds(68) && $0 < .milliseconds(75) } == true)
  }

  /// However many duplicates come within one: what is wide too soon finds losses late.
  @Test func theWindowGrowsOncePerRoundTrip() {
    let world = world(lateness: .milliseconds(16))
    world.run(for: .seconds(2))
    #expect(world.a.association.statistics.spuriousRetransmissions > 0)
    world.there.conditions.reordering = 0
    world.run(for: .seconds(1))
    let took = lose(world)
    print("sent again after \(took.map { "\($0.inMilliseconds)" } ?? "never") ms")
    #expect(took.map { $0 >= .milliseconds(58) && $0 < .milliseconds(65) } == true)
  }

  /// It stays that wide for 16 recoveries in which nothing was sent in vain.
  @Test(arguments: [(12, true), (18, false)])
  func theWindowLastsForSomeRecoveries(count: Int, lasts: Bool) {
    let world = world(lateness: .milliseconds(25))
    world.run(for: .seconds(5))
    world.there.conditions.reordering = 0
    world.run(for: .seconds(1))
    let before = world.a.association.statistics
    for _ in 0..<count { #expect(lose(world) != nil) }
    let after = world.a.association.statistics
    #expect(after.chunksRetransmitted - before.chunksRetransmitted == UInt64(count))
    #expect(after.spuriousRetransmissions == before.spuriousRetransmissions)
    #expect(after.tailLossProbes == before.tailLossProbes)
    reorder(world, by: .milliseconds(25))
    #expect((needless(world, within: .seconds(3)) == 0) == lasts)
  }
}
