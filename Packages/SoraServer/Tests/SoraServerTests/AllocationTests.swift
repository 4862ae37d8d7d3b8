import CSoraMallocCount
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraTransport
import SoraWire
import Testing

/// What a forwarded packet costs in heap allocations: nothing, once its source is known.
struct AllocationTests {
  enum Kind: CaseIterable, Sendable { case plain, simulcast, spotlight }

  @Test(
    .enabled(if: sora_malloc_count_is_telling() != 0, "only optimized code is free of allocations"),
    arguments: Kind.allCases)
  func forwardedPacketsCostNoAllocation(kind: Kind) throws {
    let simulcast = kind == .simulcast
    let network = SimulatedNetwork(seed: 51)
    let tap = TapSink(network)
    let server = try TestServer(network, sink: tap)
    let a = try ScriptedClient("a", 1, server, sink: tap).connect(.sendonly) {
      $0.simulcast = simulcast
    }
    let viewers = try (2...4).map {
      try ScriptedClient("viewer", $0, server).connect(.recvonly) {
        $0.spotlight = kind == .spotlight
      }
    }
    #expect(
      network.run(
        until: { viewers.allSatisfy { $0.sections(of: a, .video).count == 1 } },
        within: .seconds(5)))
    network.run(for: .milliseconds(300))

    // The publisher's packets as they are on the wire; the rings of the history, one a layer, are filled once
    // before counting.
    tap.mode = .capture
    // Each a key frame of VP8.
    let payload = [0x10, 0x10] + [UInt8](repeating: 0, count: 898)
    let warmup = simulcast ? 7_500 : 2_500
    for index in 0..<warmup + 1500 {
      let layer = index / 2 % 3
      let isLayered = simulcast && index % 2 == 0
      a.send(
        index % 2 == 0 ? .video : .audio, sequence: UInt16(index / 2 / (isLayered ? 3 : 1)),
        timestamp: UInt32(index), ssrc: isLayered ? UInt32(11 + layer) : nil, payloadCount: 900,
        rid: isLayered ? "r\(layer)" : nil, payload: isLayered ? payload : nil)
    }
    tap.mode = .discard
    var packets = tap.take()
    let local = TransportAddress(ip: server.host.addresses[0], port: 4000)
    func feed(_ range: Range<Int>) {
      for index in range {
        packets[index].withUnsafeMutableBytes {
          server.core.received($0, from: a.address, on: local, at: network.now)
        }
        // As they come from a socket: some together.
        if index % 8 == 7 { server.core.batchEnded(at: network.now) }
      }
      server.core.batchEnded(at: network.now)
    }
    feed(0..<warmup)
    let sent = tap.discarded
    let before = sora_malloc_count()
    feed(warmup..<warmup + 1500)
    let allocations = sora_malloc_count() - before
    // Of three layers each viewer is sent one. In no time nobody has spoken: a spotlight leaves out all audio.
    let expected =
      switch kind {
      case .plain: 4500
      case .simulcast: 3000
      case .spotlight: 2250
      }
    #expect(tap.discarded - sent == expected)
    #expect(allocations == 0)
    tap.mode = .pass
  }
}

/// Stands between transports and a simulated network: lets datagrams through, keeps them, throws
/// them away, or takes none, as a socket whose queue is full.
final class TapSink: DatagramSink {
  enum Mode { case pass, capture, discard, refuse }

  private let network: SimulatedNetwork
  var mode = Mode.pass
  private var captured: [[UInt8]] = []
  private(set) var discarded = 0
  private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

  init(_ network: SimulatedNetwork) { self.network = network }

  deinit { scratch.deallocate() }

  /// Hands out what was captured and keeps no reference, so that writing to it copies nothing.
  func take() -> [[UInt8]] {
    defer { captured = [] }
    return captured
  }

  func send(
    from local: TransportAddress, to remote: TransportAddress, ecn: ECNCodepoint, capacity: Int,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    if mode == .pass {
      network.send(from: local, to: remote, ecn: ecn, capacity: capacity, write)
      return
    }
    if mode == .refuse { return }
    let count = write(scratch)
    guard count > 0 else { return }
    if mode == .capture { captured.append(Array(scratch[..<count])) } else { discarded += 1 }
  }
}
