import SoraMedia
import SoraSCTP
import SoraWire
import Testing

/// Messages that wait for their turn, and fragments that wait for others.
@Suite struct MessageOrderTests {
  /// An I-DATA chunk (RFC 8260 §2.1) of a whole message, or of a fragment of one that isn't the first.
  private func interleaved(
    _ tsn: UInt32, stream: UInt16 = 0, number: UInt32, fragment: UInt32 = 0, flags: UInt8 = 3,
    _ payload: [UInt8]
  ) -> [UInt8] {
    RawPeer.chunk(
      64, flags: flags,
      RawPeer.words(tsn) + RawPeer.halves(stream, 0) + RawPeer.words(number, fragment) + payload)
  }

  /// Sends chunks that are made from their indices, many to a packet.
  private func send(_ indices: [UInt32], to peer: RawPeer, _ make: (UInt32, UInt32) -> [UInt8]) {
    var tsn = peer.firstTSN
    for start in stride(from: 0, to: indices.count, by: 40) {
      var chunks: [UInt8] = []
      for index in indices[start..<min(start + 40, indices.count)] {
        chunks += make(tsn, index)
        tsn &+= 1
      }
      peer.send(chunks)
    }
  }

  /// The least time of a few tries.
  private func time(_ work: () -> Void) -> Duration {
    (0..<3).map { _ in ContinuousClock().measure(work) }.min() ?? .zero
  }

  /// Nothing that a peer sends costs more than it should: neither messages that come in the worst order and are passed over together,
  /// nor passing over a few while many others wait.
  @Test func messagesInAnyOrderCostTheSame() {
    let count: UInt32 = 16_000
    func take(_ numbers: [UInt32]) -> Duration {
      time {
        let peer = RawPeer.connected(interleaving: true)
        send(numbers, to: peer) { tsn, number in
          interleaved(tsn, number: number, [UInt8(truncatingIfNeeded: number)])
        }
        #expect(peer.messages().map(\.payload).isEmpty)
        peer.send(
          RawPeer.chunk(
            194,
            RawPeer.words(peer.firstTSN &+ count) + RawPeer.halves(0, 0)
              + RawPeer.words(count / 2)))
        #expect(
          peer.messages().map(\.payload) == (1...count).map { [UInt8(truncatingIfNeeded: $0)] })
      }
    }
    let ascending = take(Array(1...count))
    #expect(take((1...count).reversed()) < ascending * 10)

    // Each of these chunks passes over some that never were, below the many that wait.
    let skipping = time {
      let peer = RawPeer.connected(interleaving: true)
      let far: UInt32 = 1 << 30
      send(Array(far..<(far + count)), to: peer) { interleaved($0, number: $1, [1]) }
      for chunk in 0..<10 as Range<UInt32> {
        var value = RawPeer.words(peer.firstTSN &+ count &+ chunk)
        for entry in 1...100 as ClosedRange<UInt32> {
          value += RawPeer.halves(0, 0) + RawPeer.words((chunk * 100 + entry) * 20_000)
        }
        peer.send(RawPeer.chunk(194, value))
      }
      #expect(peer.messages().map(\.payload).isEmpty)
    }
    #expect(skipping < ascending * 10)
  }

  @Test func fragmentsInAnyOrderCostTheSame() {
    let count: UInt32 = 16_000
    func take(_ fragments: [UInt32]) -> Duration {
      time {
        let peer = RawPeer.connected(interleaving: true)
        send(fragments, to: peer) { tsn, fragment in
          interleaved(
            tsn, number: 0, fragment: fragment, flags: fragment == count - 1 ? 1 : 0,
            [UInt8(truncatingIfNeeded: fragment)])
        }
        #expect(peer.messages().map(\.payload).isEmpty)
        let first = peer.firstTSN &+ UInt32(fragments.count)
        peer.send(interleaved(first, number: 0, fragment: 53, flags: 2, [0]))
        #expect(
          peer.messages().map(\.payload) == [(0..<count).map { UInt8(truncatingIfNeeded: $0) }])
      }
    }
    let ascending = take(Array(1..<count))
    #expect(take((1..<count).reversed()) < ascending * 10)
  }

  /// Any order, repeats and passing over agree with a simple model, also where numbers begin again at 0.
  @Test(arguments: [false, true], 1...4 as ClosedRange<UInt64>)
  func anyOrderAgreesWithAModel(interleaving: Bool, seed: UInt64) {
    let peer = RawPeer.connected(interleaving: interleaving)
    let random = RandomSource(seed: seed)
    var models = [OrderedModel](repeating: OrderedModel(), count: 3)
    var tsn = peer.firstTSN
    func skip(_ stream: Int, through number: Int64) {
      let value =
        interleaving
        ? RawPeer.halves(UInt16(stream), 0)
          + RawPeer.words(UInt32(truncatingIfNeeded: number))
        : RawPeer.halves(UInt16(stream), UInt16(truncatingIfNeeded: number))
      peer.send(RawPeer.chunk(interleaving ? 194 : 192, RawPeer.words(tsn) + value))
      tsn &+= 1
      #expect(peer.messages().map(\.payload) == models[stream].skip(through: number))
    }
    // Close to where they begin again.
    let half: Int64 = interleaving ? 1 << 31 : 1 << 15
    for stream in models.indices {
      skip(stream, through: half - 1)
      skip(stream, through: 2 * half - 200)
    }
    for step in 0..<4_000 {
      let stream = Int(random.next() % 3)
      let expected = models[stream].expected
      if random.next() % 40 == 0 {
        skip(stream, through: expected - 2 + Int64(random.next() % 20))
        continue
      }
      let ahead = Int64(random.next() % 4 == 0 ? random.next() % 40 : random.next() % 4)
      let number = expected - 2 + ahead
      let payload = [UInt8](bigEndian: UInt32(step))
      peer.send(
        interleaving
          ? interleaved(
            tsn, stream: UInt16(stream), number: UInt32(truncatingIfNeeded: number), payload)
          : peer.data(
            tsn, stream: UInt16(stream), ssn: UInt16(truncatingIfNeeded: number), payload))
      tsn &+= 1
      #expect(peer.messages().map(\.payload) == models[stream].take(number, payload))
    }
    #expect(models.allSatisfy { $0.expected > 2 * half })
    // All that waited is accounted for.
    for stream in models.indices { skip(stream, through: models[stream].expected + 100) }
    #expect(peer.association.statistics.receiveWindow == SCTPConfiguration().receiveWindow)
  }
}
