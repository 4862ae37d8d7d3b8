import SoraICE
import SoraMedia
import SoraTransport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoopExecutorTests {
  actor Counter {
    let loop: NetworkLoop
    var value = 0
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    init(_ loop: NetworkLoop) { self.loop = loop }

    func increment() {
      #expect(loop.isCurrent)
      value += 1
    }

    func incrementAfterASuspension() async {
      await Task.yield()
      increment()
    }
  }

  @Test func actorsRunOnTheLoopTheyArePinnedTo() async throws {
    let loop = try NetworkLoop.make()
    let counter = Counter(loop)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<500 {
        group.addTask { await counter.increment() }
        group.addTask { await counter.incrementAfterASuspension() }
      }
    }
    #expect(await counter.value == 1000)
    #expect(!loop.isCurrent)
  }

  @Test func callbacksOfTheLoopMayAssumeThePinnedActorsIsolation() async throws {
    let loop = try NetworkLoop.make()
    let counter = Counter(loop)
    let value = await loop.run {
      counter.assumeIsolated { counter in
        counter.increment()
        return counter.value
      }
    }
    #expect(value == 1)
  }

  @Test func executeKeepsEachThreadsOrderAndLosesNothing() async throws {
    let loop = try NetworkLoop.make()
    final class Log: @unchecked Sendable {
      // @unchecked: touched only on the loop.
      var entries: [(Int, Int)] = []
    }
    let log = Log()
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          for number in 0..<5000 { loop.execute { log.entries.append((thread, number)) } }
        }
      }
    }
    let entries = await loop.run { log.entries }
    #expect(entries.count == 40_000)
    var next = [Int](repeating: 0, count: 8)
    for (thread, number) in entries {
      #expect(next[thread] == number)
      next[thread] = number + 1
    }
  }

  @Test func workThatIsHandedInByWorkRunsInALaterTurn() async throws {
    let loop = try NetworkLoop.make()
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      @Sendable func step(_ left: Int) {
        if left == 0 { continuation.resume() } else { loop.execute { step(left - 1) } }
      }
      step(2000)
    }
  }

  @Test func aLoopBoundValueIsReleasedOnItsLoop() async throws {
    final class Guarded {
      let loop: NetworkLoop
      let gone: CheckedContinuation<Bool, Never>
      init(_ loop: NetworkLoop, _ gone: CheckedContinuation<Bool, Never>) {
        self.loop = loop
        self.gone = gone
      }
      deinit { gone.resume(returning: loop.isCurrent) }
    }
    let loop = try NetworkLoop.make()
    let onLoop = await withCheckedContinuation { (gone: CheckedContinuation<Bool, Never>) in
      Task {
        let bound = await loop.run { LoopBound(Guarded(loop, gone), loop: loop) }
        #expect(bound.loop === loop)
      }
    }
    #expect(onLoop)
  }

  @Test func groupsHandOutTheirLoopsInTurn() async throws {
    let group = NetworkLoopGroup(count: 2)
    let loops = try (0..<4).map { _ in try group.next() }
    #expect(loops[0] === loops[2] && loops[1] === loops[3] && loops[0] !== loops[1])
    group.shutdown()
    #expect(try NetworkLoopGroup.shared.next() !== loops[0])
  }

  @Test func aLoopThatIsPreparedIsTheNextOne() throws {
    let group = NetworkLoopGroup(count: 2)
    try group.prepare()
    let first = try group.next()
    // The turn stays: what was prepared once or often goes to whoever comes next.
    try group.prepare()
    try group.prepare()
    let second = try group.next()
    #expect(first !== second)
    #expect(try group.next() === first)
    group.shutdown()
  }

  @Test func aShutDownLoopClosesItsSocketsAndStillRunsWork() async throws {
    let endpoint = LoopEndpoint(try .make())
    _ = try await endpoint.open(.loopbackV4)
    endpoint.loop.shutdown()
    #expect(await endpoint.openSockets == 0)
    #expect(await endpoint.isClosed)
    await #expect(throws: NetworkError.closed) { try await endpoint.open(.loopbackV4) }
  }

  @Test func loopsThatNobodyHoldsEnd() async throws {
    // Each needs two descriptors: this would fail at the usual limit of 1,024 if they stayed open.
    for _ in 0..<600 {
      let loop = try NetworkLoop.make()
      #expect(await loop.run { true })
    }
  }
}

@Suite struct HostAddressTests {
  @Test func loopbackIsListedAndFlagged() throws {
    let all = try NetworkLoop.hostAddresses()
    let loopback = try #require(all.first { $0.ip == .loopbackV4 })
    #expect(loopback.isLoopback)
    #expect(loopback.interfaceIndex > 0)
    #expect(loopback.prefixLength == 8)
    #expect(!loopback.interfaceName.isEmpty)
    #expect(all.allSatisfy { !($0.ip.isV6 && $0.ip.isLinkLocal) })
    #expect(Set(all).count == all.count)
    #expect(try NetworkLoop.hostAddresses(includingLinkLocalV6: true).count >= all.count)
  }
}
