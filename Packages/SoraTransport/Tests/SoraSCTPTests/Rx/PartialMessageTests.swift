import SoraMedia
import SoraSCTP
import SoraWire
import Testing

/// Messages of which only a part has come, many at once, and passing over them.
@Suite struct PartialMessageTests {
  private struct Part {
    var stream: UInt16 = 0
    var number: UInt32
    var isUnordered = false
    var fragment: UInt32 = 0
    var isEnd = false
  }

  /// An I-DATA chunk (RFC 8260 §2.1).
  private func chunk(_ tsn: UInt32, _ part: Part, _ payload: [UInt8] = [1]) -> [UInt8] {
    RawPeer.chunk(
      64, flags: (part.isUnordered ? 4 : 0) + (part.fragment == 0 ? 2 : 0) + (part.isEnd ? 1 : 0),
      RawPeer.words(tsn) + RawPeer.halves(part.stream, 0)
        + RawPeer.words(part.number, part.fragment) + payload)
  }

  /// An I-FORWARD-TSN chunk (RFC 8260 §2.3.1).
  private func skip(_ tsn: UInt32, _ entries: [Part]) -> [UInt8] {
    RawPeer.chunk(
      194,
      RawPeer.words(tsn)
        + entries.flatMap {
          RawPeer.halves($0.stream, $0.isUnordered ? 1 : 0) + RawPeer.words($0.number)
        })
  }

  /// Packets with many chunks each, of which each has a TSN.
  private func packets(
    _ peer: RawPeer, _ parts: [Part], perPacket: Int = 40, from first: UInt32 = 0
  ) -> [[UInt8]] {
    stride(from: 0, to: parts.count, by: perPacket).map { start in
      peer.packet(
        (start..<min(start + perPacket, parts.count)).flatMap {
          chunk(peer.firstTSN &+ first &+ UInt32($0), parts[$0])
        })
    }
  }

  /// How long the association takes for packets, without what it takes to make them.
  private func time(_ packets: [[UInt8]], to peer: RawPeer) -> Duration {
    ContinuousClock().measure {
      for packet in packets {
        peer.association.receive(packet.span.bytes, at: peer.now)
        _ = peer.drain()
      }
    }
  }

  /// The least time of a few tries.
  private func least(_ work: () -> Duration) -> Duration {
    (0..<3).map { _ in work() }.min() ?? .zero
  }

  /// Eight thousand messages in parts, all of one stream, cost about what as many of a thousand streams do: to begin, to go on with, to
  /// end, and to pass over.
  @Test(arguments: [false, true])
  func manyOfOneStreamCostWhatManyStreamsDo(isUnordered: Bool) {
    let count: UInt32 = 8_000
    func take(streams: UInt32) -> Duration {
      least {
        let peer = RawPeer.connected(interleaving: true)
        func part(_ index: UInt32, _ fragment: UInt32, isEnd: Bool = false) -> Part {
          // The first of each stream stays away, so that messages with an order wait, too.
          Part(
            stream: UInt16(index % streams), number: 1 + index / streams, isUnordered: isUnordered,
            fragment: fragment, isEnd: isEnd)
        }
        let all = 0..<count
        let parts =
          all.map { part($0, 0) } + all.reversed().map { part($0, 1) } + all.map { part($0, 2) }
          + all[0..<4_000].reversed().map { part($0, 3, isEnd: true) }
        var took = time(packets(peer, parts), to: peer)
        #expect(peer.messages().count == (isUnordered ? 4_000 : 0))
        var tsn = peer.firstTSN &+ UInt32(parts.count)
        // What is passed over first was never there, then it is one after the other.
        let fruitless = (0..<100).map { _ -> [UInt8] in
          tsn &+= 1
          return peer.packet(
            skip(
              tsn, (0..<140).map { _ in Part(stream: 0, number: 0, isUnordered: isUnordered) }))
        }
        took += time(fruitless, to: peer)
        let each = stride(from: 0, to: count, by: 140).map { start -> [UInt8] in
          tsn &+= 1
          return peer.packet(skip(tsn, (start..<min(start + 140, count)).map { part($0, 0) }))
        }
        took += time(each, to: peer)
        #expect(peer.messages().count == (isUnordered ? 0 : 4_000))
        #expect(peer.association.statistics.receiveWindow == SCTPConfiguration().receiveWindow)
        return took
      }
    }
    let many = take(streams: 1_000)
    let one = take(streams: 1)
    #expect(one < many * 5, "\(one), \(many)")
  }

  /// Messages in parts of a stream, with or without an order, by numbers that don't wrap.
  private struct Model {
    struct Key: Hashable {
      var number: Int64
      var isUnordered: Bool
    }

    var order: OrderedModel
    var partial: [Key: Set<UInt32>] = [:]

    init(expected: Int64) { order = OrderedModel(expected: expected) }

    var expected: Int64 { order.expected }

    /// A message has two to five fragments.
    static func fragments(_ number: Int64) -> UInt32 { 2 + UInt32(truncatingIfNeeded: number) % 4 }

    static func payload(_ key: Key, _ fragment: UInt32) -> [UInt8] {
      [UInt8(truncatingIfNeeded: key.number), UInt8(fragment), key.isUnordered ? 1 : 0]
    }

    mutating func take(_ key: Key, _ fragment: UInt32) -> [[UInt8]] {
      partial[key, default: []].insert(fragment)
      guard partial[key]?.count == Int(Model.fragments(key.number)) else { return [] }
      partial[key] = nil
      let whole = (0..<Model.fragments(key.number)).flatMap { Model.payload(key, $0) }
      return key.isUnordered ? [whole] : order.take(key.number, whole)
    }

    mutating func skip(through number: Int64, isUnordered: Bool) -> [[UInt8]] {
      for key in partial.keys where key.isUnordered == isUnordered && key.number <= number {
        partial[key] = nil
      }
      return isUnordered ? [] : order.skip(through: number)
    }
  }

  /// Any order of fragments of few or many messages agrees with a simple model, also where numbers begin again at 0. A message with an
  /// order and one without, of the same number, are two.
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func anyOrderAgreesWithAModel(seed: UInt64) {
    let peer = RawPeer.connected(interleaving: true)
    let random = RandomSource(seed: seed)
    let begin: Int64 = 1 << 32 - 60
    var models = [Model](repeating: Model(expected: begin), count: 3)
    var tsn = peer.firstTSN
    func skipped(_ stream: Int, through number: Int64, isUnordered: Bool) -> [[UInt8]] {
      let entry = Part(
        stream: UInt16(stream), number: UInt32(truncatingIfNeeded: number),
        isUnordered: isUnordered)
      peer.send(skip(tsn, [entry]))
      tsn &+= 1
      return peer.messages().map(\.payload)
    }
    for stream in models.indices {
      for number in [1 << 31 - 1, begin - 1] as [Int64] {
        #expect(skipped(stream, through: number, isUnordered: false).isEmpty)
      }
    }
    // Where numbers are: those without an order go along, and around them fewer or more wait.
    var most = 0
    for step in 0..<12_000 {
      let stream = Int(random.next() % 3)
      let expected = models[stream].expected
      let spread: UInt64 = step / 2_000 % 2 == 0 ? 4 : 60
      let isUnordered = random.next() % 2 == 0
      if random.next() % 50 == 0 {
        let number = expected - 3 + Int64(random.next() % 8)
        let outcome = skipped(stream, through: number, isUnordered: isUnordered)
        #expect(outcome == models[stream].skip(through: number, isUnordered: isUnordered))
        continue
      }
      let key = Model.Key(
        number: expected - 2 + Int64(random.next() % spread), isUnordered: isUnordered)
      let count = Model.fragments(key.number)
      let fragment = UInt32(random.next() % UInt64(count))
      peer.send(
        chunk(
          tsn,
          Part(
            stream: UInt16(stream), number: UInt32(truncatingIfNeeded: key.number),
            isUnordered: isUnordered, fragment: fragment, isEnd: fragment == count - 1),
          Model.payload(key, fragment)))
      tsn &+= 1
      let got = peer.messages()
      #expect(got.map(\.payload) == models[stream].take(key, fragment))
      #expect(got.allSatisfy { $0.isUnordered == isUnordered })
      most = max(most, models[stream].partial.count)
    }
    #expect(most > 40)
    #expect(models.allSatisfy { $0.expected > 1 << 32 })
    // All that waited is accounted for.
    for stream in models.indices {
      for isUnordered in [false, true] {
        let number = models[stream].expected + 100
        #expect(
          skipped(stream, through: number, isUnordered: isUnordered)
            == models[stream].skip(through: number, isUnordered: isUnordered))
      }
    }
    #expect(peer.association.statistics.receiveWindow == SCTPConfiguration().receiveWindow)
  }

  /// Numbers may be anywhere, as those of a peer who means harm are: what is passed over in the end leaves nothing behind.
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func numbersAllAroundAreFound(seed: UInt64) {
    let peer = RawPeer.connected(interleaving: true)
    let random = RandomSource(seed: seed)
    let numbers = (0..<500).map { _ in UInt32(truncatingIfNeeded: random.next()) }
    var tsn = peer.firstTSN
    for number in numbers {
      peer.send(chunk(tsn, Part(number: number, isUnordered: true), [1]))
      tsn &+= 1
    }
    for number in numbers.reversed() where number % 2 == 0 {
      peer.send(chunk(tsn, Part(number: number, isUnordered: true, fragment: 1, isEnd: true), [2]))
      tsn &+= 1
    }
    let even = Set(numbers.filter { $0 % 2 == 0 })
    #expect(peer.messages().map(\.payload) == even.map { _ in [1, 2] })
    // Each round passes over one at least.
    for round in 0..<UInt32(4 * numbers.count) {
      peer.send(skip(tsn, [Part(number: round << 30, isUnordered: true)]))
      tsn &+= 1
    }
    #expect(peer.association.statistics.receiveWindow == SCTPConfiguration().receiveWindow)
  }

  /// DATA whose fragments come in any order, and are passed over in the middle, agrees with a simple model: a message is handed out once
  /// all of it has come, unless its sender gave up a part before.
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func passingOverFragmentsAgreesWithAModel(seed: UInt64) {
    let peer = RawPeer.connected(interleaving: false)
    let random = RandomSource(seed: seed)
    // Messages of one to five fragments, one behind the other; their TSNs are counted from 0.
    var bounds: [Range<Int>] = []
    while bounds.last?.upperBound ?? 0 < 40_000 {
      let start = bounds.last?.upperBound ?? 0
      bounds.append(start..<start + 1 + Int(random.next() % 5))
    }
    let messageOf = bounds.indices.flatMap { index in bounds[index].map { _ in index } }
    var cumulative = -1
    var arrived: Set<Int> = []
    var givenUp = -1
    var handedOut = 0
    func advance() { while arrived.contains(cumulative + 1) { cumulative += 1 } }
    while cumulative < 38_000 {
      if random.next() % 100 == 0 {
        givenUp = cumulative + 1 + Int(random.next() % 700)
        peer.send(RawPeer.chunk(192, RawPeer.words(peer.firstTSN &+ UInt32(givenUp))))
        cumulative = givenUp
        advance()
        #expect(peer.messages().isEmpty)
        continue
      }
      let index = cumulative + 1 + Int(random.next() % (random.next() % 4 == 0 ? 600 : 8))
      let message = bounds[messageOf[index]]
      let isBeginning = index == message.lowerBound
      let isEnd = index == message.upperBound - 1
      peer.send(
        peer.data(
          peer.firstTSN &+ UInt32(index), flags: 4 + (isBeginning ? 2 : 0) + (isEnd ? 1 : 0),
          [UInt8](bigEndian: UInt32(index))))
      let isNew = arrived.insert(index).inserted
      let isWhole = isNew && message.lowerBound > givenUp && message.allSatisfy(arrived.contains)
      advance()
      let expected = isWhole ? [message.flatMap { [UInt8](bigEndian: UInt32($0)) }] : []
      #expect(peer.messages().map(\.payload) == expected)
      handedOut += isWhole ? 1 : 0
    }
    #expect(handedOut > 100)
    peer.send(RawPeer.chunk(192, RawPeer.words(peer.firstTSN &+ 50_000)))
    #expect(peer.association.statistics.receiveWindow == SCTPConfiguration().receiveWindow)
  }

  /// Passing over a wide gap again and again, with a fragment beyond each, costs by far less than a step for each TSN.
  @Test(arguments: [false, true])
  func wideGapsCostLittle(interleaving: Bool) {
    let rounds: UInt32 = 600
    func take(gap: UInt32) -> Duration {
      least {
        let peer = RawPeer.connected(interleaving: interleaving)
        var tsn = peer.firstTSN &- 1
        let packets = (0..<rounds / 20).map { round in
          peer.packet(
            (0..<20 as Range<UInt32>).flatMap { index -> [UInt8] in
              let start = tsn
              tsn &+= gap
              let number = round * 20 + index
              let fragment =
                interleaving
                ? chunk(start &+ gap, Part(number: number, fragment: 1))
                : peer.data(start &+ gap, ssn: UInt16(number), flags: 0, [1])
              tsn &-= 2
              return fragment
                + (interleaving
                  ? skip(tsn, [Part(number: number)]) : RawPeer.chunk(192, RawPeer.words(tsn)))
            })
        }
        return time(packets, to: peer)
      }
    }
    let narrow = take(gap: 100)
    let wide = take(gap: UInt32(DataTracker.span))
    #expect(wide < narrow * 50, "\(wide), \(narrow)")
  }
}
