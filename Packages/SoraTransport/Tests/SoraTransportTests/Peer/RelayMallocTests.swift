import CSoraMallocCount
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import SoraWire
import Testing

/// Heap allocations of packets on their way through a TURN relay, in the client and in the server: none.
@Suite struct RelayMallocTests {
  /// A call through a relay whose datagrams are kept between its parts.
  private final class Bench {
    let call: RelayedCall
    private(set) var streams: SimulatedICEStreams?
    let ringA: RingSink
    let ringB: RingSink
    let ringT: RingSink
    private var number: UInt16 = 1000

    static let batch = 100

    init(seed: UInt64, url: String) throws {
      var rings: (RingSink, RingSink, RingSink)?
      call = try RelayedCall(
        seed: seed, policyA: .relay, serversA: RelayedCall.servers(url),
        sinks: { network in
          rings = (RingSink(network), RingSink(network), RingSink(network))
          return (rings?.0, rings?.1, rings?.2)
        })
      (ringA, ringB, ringT) = try #require(rings)
      if ICEServerURL(url)?.isStream == true {
        streams = SimulatedICEStreams(call.network, on: call.hostA, for: call.a.transport)
      }
      try #require(call.connect())
      // The channel is bound.
      call.exchange(20)
      for ring in [ringA, ringB, ringT] { ring.isKept = true }
      for peer in [call.a, call.b] { peer.notesPackets = false }
    }

    func send(_ peer: GatheringPeer) {
      for _ in 0..<Self.batch {
        number &+= 1
        peer.send(number, size: 1200)
      }
    }
  }

  /// The count that one step adds; noted from the third round on.
  private struct Steps {
    private(set) var counts: [String: UInt64] = [:]
    var isNoted = false

    mutating func measure(_ name: String, _ body: () -> Void) {
      let before = sora_malloc_count()
      body()
      let mallocs = sora_malloc_count() - before
      if isNoted { counts[name, default: 0] += mallocs }
    }

    func check(_ packets: Int) {
      print("\(packets) packets each way, allocations: \(counts.sorted { $0.key < $1.key })")
      guard sora_malloc_count_is_on() != 0 else { return }
      for (name, mallocs) in counts { #expect(mallocs == 0, "\(name)") }
    }
  }

  @Test(.needsOptimizer) func aPacketThroughTheRelayCostsNoAllocation() throws {
    let bench = try Bench(seed: 31, url: "turn:192.0.2.1:3478")
    let (call, now) = (bench.call, bench.call.network.now)
    let server = call.turn.server.statistics
    let before = (call.a.receivedCount, call.b.receivedCount)
    var steps = Steps()
    let rounds = 30
    for round in 0..<rounds {
      steps.isNoted = round >= 3
      steps.measure("1 client sends") { bench.send(call.a) }
      steps.measure("2 server relays to the peer") {
        bench.ringA.deliver(to: call.turn, at: now)
      }
      steps.measure("3 peer receives") { bench.ringT.deliver(to: call.b, at: now) }
      steps.measure("4 peer sends") { bench.send(call.b) }
      steps.measure("5 server relays to the client") {
        bench.ringB.deliver(to: call.turn, at: now)
      }
      steps.measure("6 client receives") { bench.ringT.deliver(to: call.a, at: now) }
    }
    let packets = rounds * Bench.batch
    #expect(call.a.receivedCount - before.0 == packets)
    #expect(call.b.receivedCount - before.1 == packets)
    let after = call.turn.server.statistics
    #expect(after.datagramsToPeers - server.datagramsToPeers == UInt64(packets))
    #expect(after.datagramsToClients - server.datagramsToClients == UInt64(packets))
    steps.check(packets)
  }

  /// A transport's stream, into a ring.
  private final class RingStream: ICEStreamSink {
    let ring: RingSink
    private let client: TURNServer.Client

    init(_ ring: RingSink, _ client: TURNServer.Client) {
      self.ring = ring
      self.client = client
    }

    func open(_ stream: Int, to server: ICEServer) {}
    func send(
      _ stream: Int, capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
    ) {
      ring.send(from: client.remote, to: client.local, ecn: .notECT, capacity: capacity, write)
    }
    func close(_ stream: Int) {}
  }

  @Test(.needsOptimizer) func norDoesOneOverAStream() throws {
    let bench = try Bench(seed: 32, url: "turn:192.0.2.1:3478?transport=tcp")
    let (call, now) = (bench.call, bench.call.network.now)
    let (number, stream) = try #require(bench.streams?.streams.first)
    let client = TURNServer.Client(local: stream.remote, remote: stream.local, isStream: true)
    let sink = RingStream(bench.ringA, client)
    call.a.transport.streams = sink
    let before = (call.a.receivedCount, call.b.receivedCount)
    var deframer = TURNStreamDeframer()
    let framed = UnsafeMutableRawBufferPointer.allocate(
      byteCount: 1500 * Bench.batch, alignment: 4)
    defer { framed.deallocate() }
    var channel: [UInt8] = []
    var steps = Steps()
    let rounds = 30
    for round in 0..<rounds {
      steps.isNoted = round >= 3
      steps.measure("1 client sends") { bench.send(call.a) }
      if channel.isEmpty {
        sink.ring.drain { channel = Array($0[..<2]) }
      } else {
        steps.measure("2 server relays to the peer") {
          sink.ring.drain { bytes in
            try? deframer.append(UnsafeRawBufferPointer(bytes)) { message in
              call.turn.server.receive(message.bytes, from: client, at: now)
            }
          }
        }
      }
      steps.measure("3 peer receives") { bench.ringT.deliver(to: call.b, at: now) }
      steps.measure("4 peer sends") { bench.send(call.b) }
      // As a server would, ChannelData: each piece of the stream ends within a message.
      var end = 0
      bench.ringB.drain { bytes in
        framed.baseAddress?.advanced(by: end).copyMemory(from: channel, byteCount: 2)
        framed[end + 2] = UInt8(bytes.count >> 8)
        framed[end + 3] = UInt8(truncatingIfNeeded: bytes.count)
        UnsafeMutableRawBufferPointer(rebasing: framed[(end + 4)...])
          .copyMemory(from: UnsafeRawBufferPointer(bytes))
        end += 4 + (bytes.count + 3) & ~3
      }
      steps.measure("5 client receives") {
        for start in stride(from: 0, to: end, by: 1700) {
          let piece = UnsafeRawBufferPointer(rebasing: framed[start..<min(end, start + 1700)])
          call.a.transport.streamReceived(number, piece, at: now)
        }
      }
    }
    #expect(call.a.receivedCount - before.0 == rounds * Bench.batch)
    #expect(call.b.receivedCount - before.1 == (rounds - 1) * Bench.batch)
    steps.check(rounds * Bench.batch)
  }

  // MARK: What a loop's stream costs

  /// Takes what is sent.
  private final class Sponge: ICEStreamConnector, ICEStreamConnection, @unchecked Sendable {
    // @unchecked: touched only on the loop.
    var bytes = 0
    var calls = 0
    private(set) var events: (@Sendable (ICEStreamEvent) -> Void)?

    func open(_ server: ICEServer, events: @escaping @Sendable (ICEStreamEvent) -> Void)
      -> any ICEStreamConnection
    {
      self.events = events
      return self
    }

    func send(_ bytes: [UInt8]) {
      self.bytes += bytes.count
      calls += 1
    }

    func close() {}
  }

  /// Streams are another library's, which takes arrays: one a turn, however many packets there are.
  @Test(.needsOptimizer) func aTurnOfTheLoopCostsOneArrayHoweverManyPackets() async throws {
    let loop = try NetworkLoop.make()
    let sponge = Sponge()
    let set = await loop.run {
      let set = ICEStreamSet(loop: loop, connector: sponge)
      set.open(1, to: ICEServer(url: ICEServerURL("turn:192.0.2.1?transport=tcp")!))
      return LoopBound(set, loop: loop)
    }
    await loop.run { sponge.events?(.opened) }
    // The stream is open behind the work that its event was.
    await loop.run {}
    for packets in [10, 10, 10, 80, 80, 80] {
      let calls = await loop.run { sponge.calls }
      let mallocs = await loop.run {
        let before = sora_malloc_count()
        for index in 0..<packets {
          set.value.send(1, capacity: 1300) { memory in
            memory[0] = UInt8(index)
            return 1200
          }
        }
        return sora_malloc_count() - before
      }
      await loop.run {}
      #expect(await loop.run { sponge.calls } == calls + 1)
      // The array, and the work of flushing; the first turn of a size grows the array.
      if sora_malloc_count_is_on() != 0 { #expect(mallocs <= 12, "\(packets) packets") }
    }
    #expect(await loop.run { sponge.bytes } == 270 * 1200)
    #expect(await loop.run { set.value.bytesDropped } == 0)
    loop.shutdown()
  }
}
