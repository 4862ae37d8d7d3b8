import SoraMedia
import SoraSCTP

extension FuzzTarget {
  /// An association, at one of the points of its life, that gets chunks which the input makes up, in packets that are right
  /// otherwise, so that what is behind tag and checksum gets its share.
  static var sctpPackets: FuzzTarget {
    FuzzTarget("sctp-packets", maximumLength: 2048, seeds: SCTPSeeds.packets()) { bytes in
      var input = FuzzInput(bytes)
      let pair = SCTPPair(bits: input.byte())
      let stage = input.byte()
      pair.prepare(stage: Int(stage % 8))
      for _ in 0..<60 where !input.isAtEnd {
        let operation = input.byte()
        switch operation % 16 {
        case 0..<8: pair.inject(pair.packet(of: input.chunk(), tag: .right), to: 0)
        case 8: pair.inject(pair.packet(of: input.chunk(), tag: .wrong), to: 0)
        case 9: pair.inject(pair.packet(of: input.chunk(), tag: .none), to: 0)
        case 10: pair.inject(pair.packet(of: input.chunk(), tag: .ofPeer), to: 0)
        case 11: pair.inject(input.chunk(), to: 0)
        case 12: pair.step(input.step())
        case 13: pair.act(0, &input)
        case 14: pair.readsEvents.toggle()
        default: pair.exchange(rounds: 2)
        }
        pair.checkBounds()
      }
      pair.end()
    }
  }

  /// Two associations, and between them somebody who loses, doubles, delays, damages, changes and invents packets.
  static var sctpAssociations: FuzzTarget {
    FuzzTarget("sctp-associations", maximumLength: 1024, seeds: SCTPSeeds.associations()) { bytes in
      var input = FuzzInput(bytes)
      let pair = SCTPPair(bits: input.byte())
      pair.start(both: input.byte() & 1 != 0)
      for _ in 0..<120 where !input.isAtEnd {
        let operation = input.byte()
        let to = Int(operation >> 7)
        switch operation & 0x7F % 16 {
        case 0, 1: pair.deliver(to: to)
        case 2: pair.deliverAll(to: to)
        case 3: _ = pair.take(to: to)
        case 4: pair.deliver(to: to, copies: 2)
        case 5: pair.delay(to: to)
        case 6: pair.replay(Int(input.byte()), to: to)
        case 7: pair.damage(to: to, at: input.number16(), by: input.byte())
        case 8: pair.change(to: to, at: input.number16(), by: input.byte())
        case 9: pair.cut(to: to, at: input.number16())
        case 10: pair.inject(pair.packet(of: input.chunk(), tag: .right, to: to), to: to)
        case 11: pair.step(input.step())
        case 12: pair.readsEvents.toggle()
        default: pair.act(to, &input)
        }
        pair.checkBounds()
      }
      pair.settle()
    }
  }
}

/// Inputs to start from.
enum SCTPSeeds {
  /// Chunks as the RFCs draw them, each with its length, in the packets of an association that is there.
  static func packets() -> [[UInt8]] {
    let chunks: [[UInt8]] = [
      // DATA: a whole message, ordered and unordered, and the beginning of one.
      chunk(0, 3, [0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 53, 1, 2, 3, 4]),
      chunk(0, 7, [0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 53, 1]),
      chunk(0, 2, [0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 53, 1, 2, 3, 4]),
      // I-DATA (RFC 8260 §2.1).
      chunk(64, 3, [0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 53, 1, 2, 3, 4]),
      // INIT with the parameters that WebRTC's ends offer, and with one that nobody knows.
      chunk(
        1, 0,
        [
          0, 0, 0, 9, 0, 1, 0, 0, 0, 8, 0, 8, 0, 0, 0, 7, 0xC0, 0, 0, 4, 0x80, 8, 0, 7, 130, 192,
          64, 0,
        ]
      ),
      chunk(1, 0, [0, 0, 0, 9, 0, 1, 0, 0, 0, 8, 0, 8, 0, 0, 0, 7, 0x12, 0x34, 0, 8, 1, 2, 3, 4]),
      // INIT ACK with a cookie.
      chunk(2, 0, [0, 0, 0, 9, 0, 1, 0, 0, 0, 8, 0, 8, 0, 0, 0, 7, 0, 7, 0, 8, 1, 2, 3, 4]),
      // SACK with a gap and a duplicate.
      chunk(3, 0, [0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 2, 0, 4, 0, 0, 0, 1]),
      chunk(4, 0, [0, 1, 0, 12, 1, 2, 3, 4, 5, 6, 7, 8]),
      chunk(5, 0, [0, 1, 0, 12, 1, 2, 3, 4, 5, 6, 7, 8]),
      chunk(6, 0, [0, 12, 0, 8, 98, 121, 101, 46]),
      chunk(7, 0, [0, 0, 0, 0]),
      chunk(8, 0, []),
      chunk(9, 0, [0, 1, 0, 8, 0, 1, 0, 0]),
      chunk(10, 0, [1, 2, 3, 4, 5, 6, 7, 8]),
      chunk(11, 0, []),
      chunk(14, 0, []),
      // PAD (RFC 4820), FORWARD-TSN (RFC 3758 §3.2) and I-FORWARD-TSN (RFC 8260 §2.3.1).
      chunk(132, 0, [0, 0, 0, 0]),
      chunk(192, 0, [0, 0, 0, 9, 0, 1, 0, 2]),
      chunk(194, 0, [0, 0, 0, 9, 0, 1, 0, 1, 0, 0, 0, 3]),
      // RE-CONFIG (RFC 6525 §4): outgoing reset, incoming reset, TSN reset, response, add streams.
      chunk(130, 0, [0, 13, 0, 18, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]),
      chunk(130, 0, [0, 14, 0, 10, 0, 0, 0, 1, 0, 1, 0, 0]),
      chunk(130, 0, [0, 15, 0, 8, 0, 0, 0, 1]),
      chunk(130, 0, [0, 16, 0, 12, 0, 0, 0, 1, 0, 0, 0, 1]),
      chunk(130, 0, [0, 17, 0, 12, 0, 0, 0, 1, 0, 4, 0, 0]),
    ]
    var scripts: [[UInt8]] = chunks.enumerated().map { index, chunk in
      var script = ScriptWriter()
      script.byte(UInt8(index % 8))
      // Connected, with data under way in every other one.
      script.byte(index % 2 == 0 ? 3 : 4)
      script.byte(0)
      script.chunk(chunk)
      script.raw([15, 12, 250])
      return script.bytes
    }
    for stage in 0..<8 as Range<UInt8> {
      var all = ScriptWriter()
      all.byte(stage)
      all.byte(stage)
      for chunk in chunks {
        all.byte(0)
        all.chunk(chunk)
      }
      scripts.append(all.bytes)
    }
    return scripts
  }

  private static func chunk(_ type: UInt8, _ flags: UInt8, _ value: [UInt8]) -> [UInt8] {
    var writer = ScriptWriter()
    writer.raw([type, flags])
    writer.number16(4 + value.count)
    writer.raw(value)
    return writer.bytes
  }

  static func associations() -> [[UInt8]] {
    let exchange: [UInt8] = [2, 0x82]
    func actions(_ what: [[UInt8]]) -> [UInt8] { what.flatMap { $0 } }
    let handshake = exchange + exchange + exchange
    let sending = actions([
      [13, 0, 1, 4, 0], [13, 0, 2, 3, 1], [0x8D, 0, 1, 40, 0], exchange, exchange, [11, 250],
      exchange,
    ])
    let lossy = actions([
      [13, 0, 1, 60, 0], [3], [4], [5], [6, 1], [7, 0, 20, 1], [11, 220], exchange, [11, 230],
      exchange,
    ])
    let hostile = actions([
      [13, 0, 1, 20, 0], [8, 0, 16, 1], [9, 0, 20],
      [10, 0, 12, 192, 0, 0, 12, 0, 0, 0, 9, 0, 1, 0, 2], [11, 210], exchange,
    ])
    let closing = actions([
      [13, 2, 1], exchange, exchange, [11, 250], [0x8D, 3], exchange, exchange,
    ])
    return [0, 1, 2, 5, 8].map { bits in
      [UInt8(bits), UInt8(bits & 1)] + handshake + sending + lossy + sending + closing
    } + [[0, 0] + handshake + hostile, [1, 1] + handshake + hostile + closing]
  }
}
