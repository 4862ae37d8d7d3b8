import CSoraMallocCount
import SoraICE
import SoraMedia
import SoraTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoopMallocTests {
  /// Two sockets of one loop play ping-pong with bursts; after a warm-up, nothing allocates.
  final class Player: DatagramHandler {
    let loop: NetworkLoop
    var socket: UDPSocket?
    var timer: LoopTimer?
    var peer: TransportAddress?
    /// The other player, whose game is over too when this one's is.
    weak var opponent: Player?
    var received = 0
    var toSend = 0
    /// Where the count of mallocs is taken, and where it ends.
    let from: Int
    let until: Int
    var mallocsBefore: UInt64 = 0
    let done: CheckedContinuation<UInt64, Never>?

    init(_ loop: NetworkLoop, from: Int, until: Int, done: CheckedContinuation<UInt64, Never>?) {
      self.loop = loop
      self.from = from
      self.until = until
      self.done = done
    }

    func received(
      _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
      at now: Instant
    ) {
      received += 1
      peer = source
      toSend += 1
      // Long: a loaded machine is no failure, a datagram that got lost is.
      timer?.deadline = now + .seconds(30)
      if received == from { mallocsBefore = sora_malloc_count() }
      if received == until {
        done?.resume(returning: sora_malloc_count() - mallocsBefore)
        // The loop goes on for as long as the test takes to wake up.
        timer?.deadline = nil
        opponent?.timer?.deadline = nil
        socket.close()
      }
    }

    func batchEnded(at now: Instant) {
      guard let socket, let peer else { return }
      for _ in 0..<toSend {
        socket.send(to: peer, capacity: 1200) { memory in
          memory[0] = 1
          return 1200
        }
      }
      toSend = 0
    }
  }

  @Test(arguments: [true, false])
  func nothingIsAllocatedForADatagram(offload: Bool) async throws {
    var configuration = NetworkLoop.Configuration()
    configuration.segmentationOffload = offload
    configuration.receiveOffload = offload
    let loop = try NetworkLoop.make(configuration: configuration)
    let mallocs = try await play(on: loop)
    if sora_malloc_count_is_on() != 0 {
      #if DEBUG
        // Unoptimized library code allocates a little a turn, still nothing a datagram.
        #expect(mallocs < 10_000, "\(mallocs) allocations for 20,000 datagrams")
      #else
        #expect(mallocs == 0, "\(mallocs) allocations for 20,000 datagrams")
      #endif
    }
    loop.shutdown()
  }

  private func play(on loop: NetworkLoop) async throws -> UInt64 {
    await withCheckedContinuation { done in
      loop.execute {
        let a = Player(loop, from: 2000, until: 22_000, done: done)
        let b = Player(loop, from: 0, until: .max, done: nil)
        let any = TransportAddress(ip: .loopbackV4, port: 0)
        for player in [a, b] {
          player.socket = try? loop.openUDP(any, handler: player)
          player.timer = loop.makeTimer { _ in Issue.record("the game has stopped") }
        }
        a.peer = b.socket?.localAddress
        a.opponent = b
        a.toSend = 40
        a.batchEnded(at: loop.now)
      }
    }
  }

  @Test func theCounterCounts() {
    guard sora_malloc_count_is_on() != 0 else { return }
    let before = sora_malloc_count()
    let bytes = sora_malloc_bytes()
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 1000, alignment: 8)
    memory.storeBytes(of: 1, as: UInt8.self)
    #expect(sora_malloc_count() > before)
    #expect(sora_malloc_bytes() >= bytes + 1000)
    memory.deallocate()
  }

  @Test func handingWorkToALoopAllocatesNothingOnItsThread() async throws {
    let loop = try NetworkLoop.make()
    final class State: @unchecked Sendable {
      // @unchecked: touched only on the loop.
      var count = 0
      var before: UInt64 = 0
    }
    let state = State()
    let mallocs = await withCheckedContinuation { (done: CheckedContinuation<UInt64, Never>) in
      let step: @Sendable () -> Void = {
        state.count += 1
        if state.count == 1000 { state.before = sora_malloc_count() }
        if state.count == 4000 { done.resume(returning: sora_malloc_count() - state.before) }
      }
      for _ in 0..<4000 { loop.execute(step) }
    }
    if sora_malloc_count_is_on() != 0 { #expect(mallocs <= 16) }
  }
}
