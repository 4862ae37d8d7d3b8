import CSoraMallocCount
import Foundation
import Logging
import SignalingTestSupport
import SoraDTLS
import SoraICE
import SoraServer
import SoraTransport
import Synchronization
import Testing

/// Fifty clients at a time that come and go on real sockets, in a process of its own: there nothing else opens sockets and takes memory.
@Suite(.timeLimit(.minutes(60))) struct RealServerEnduranceTests {
  /// Set in the process that this one starts.
  static let variable = "SORA_ENDURANCE_PROCESS"
  /// For how long clients come and go: 20 by default, for 20 minutes see `make endurance`.
  static let seconds =
    ProcessInfo.processInfo.environment["SORA_ENDURANCE_SECONDS"].flatMap { Int($0) } ?? 20

  @Test(.enabled(if: ProcessInfo.processInfo.environment[variable] == nil))
  func nothingIsLeftOf50ClientsThatComeAndGo() async throws {
    let (status, text) = try await runAlone(
      "EnduranceOfAProcess", environment: [Self.variable: "1"])
    #expect(status == 0, "\(text.suffix(3000))")
    // It has run, and hasn't been left out.
    #expect(text.contains("endurance: after the server"), "\(text.suffix(3000))")
    for line in text.split(separator: "\n") where line.contains("endurance: ") { print(line) }
  }
}

/// The process that `RealServerEnduranceTests` starts.
@Suite(
  .enabled(if: ProcessInfo.processInfo.environment[RealServerEnduranceTests.variable] != nil),
  .serialized, .timeLimit(.minutes(60)))
struct EnduranceOfAProcess {
  private static let atOnce = 50
  /// Dispatch starts a worker more where others block, and keeps it. One for each of thousands of visits would be a leak.
  private static let workers = 2

  /// What is in use of the heap; 0 where nobody counts.
  private static var heap: String { ", \(sora_malloc_in_use() >> 10) KiB of heap" }

  private static func start() async throws -> SoraServer {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.apiPort = 0
    configuration.pingInterval = .milliseconds(500)
    configuration.pongTimeout = .seconds(2)
    configuration.connectTimeout = .seconds(2)
    configuration.mediaTimeout = .seconds(3)
    configuration.logger.logLevel = .error
    return try await SoraServer.start(configuration)
  }

  /// Has clients come and go at all places for a while, and waits for the last one.
  private func visit(
    _ server: SoraServer, on loop: NetworkLoop, for duration: Duration
  ) async throws -> EnduranceGuests.Counts {
    let guests = try EnduranceGuests(server, on: loop)
    let end = ContinuousClock().now + duration
    await withTaskGroup(of: Void.self) { group in
      for place in 0..<Self.atOnce {
        group.addTask {
          var visit = place
          repeat {
            await guests.visit(visit)
            visit += Self.atOnce
          } while ContinuousClock().now < end
        }
      }
    }
    return guests.counts
  }

  /// What is used once it is no more than `limit`, or after a while: threads that nobody needs go after some seconds.
  private func settled(_ limit: ProcessUsage?) async throws -> ProcessUsage {
    for _ in 0..<(limit == nil ? 20 : 60) {
      try await Task.sleep(for: .milliseconds(500))
      let usage = ProcessUsage()
      if let limit, usage.isWithin(limit, workers: Self.workers) { return usage }
    }
    return ProcessUsage()
  }

  /// Swift Testing keeps a backtrace of each error that is thrown, half a kilobyte until the test ends, and SwiftNIO throws two for each
  /// socket that connects: beside that nothing of the server's would be seen.
  private static func forgetThrownErrors() {
    for hook in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
      dlsym(nil, hook)?.assumingMemoryBound(to: UInt.self).pointee = 0
    }
  }

  @Test func measured() async throws {
    Self.forgetThrownErrors()
    let loop = try NetworkLoop.make()
    // What a process makes once and keeps: libraries, pools, threads, and the allocator's arenas.
    try await warmUp(on: loop)
    let idle = try await settled(nil)
    print("endurance: before the server, \(idle)\(Self.heap)")
    try await serve(on: loop)
    let last = try await settled(idle)
    print("endurance: after the server, \(last)\(Self.heap)")
    #expect(last.descriptors <= idle.descriptors)
    #expect(last.threads <= idle.threads + Self.workers)
    loop.shutdown()
  }

  private func warmUp(on loop: NetworkLoop) async throws {
    let server = try await Self.start()
    _ = try await visit(server, on: loop, for: .seconds(5))
    await server.shutdown()
  }

  /// In a function of its own, so that nothing of the server is held behind it.
  private func serve(on loop: NetworkLoop) async throws {
    let seconds = RealServerEnduranceTests.seconds
    let server = try await Self.start()
    // Pools and the allocator's arenas become as large as the most that came together asks for, and that comes late: measured beside
    // this, memory grew for the first five minutes and then no more.
    _ = try await visit(server, on: loop, for: .seconds(max(10, seconds / 4)))
    let before = try await settled(nil)
    print("endurance: with nobody there, \(before)\(Self.heap)")
    let counts = try await visit(server, on: loop, for: .seconds(seconds))
    let after = try await settled(before)
    print("endurance: after \(seconds) s and \(counts), \(after)\(Self.heap)")
    #expect(counts.connected > 0 && counts.packets > 0 && counts.failures.isEmpty)
    #expect(after.isWithin(before, workers: Self.workers))
    #expect(await server.holdings == SFUHoldings())
    #expect(await !server.hasDeadlines)
    #expect(await server.channels.isEmpty)
    #expect(await loop.run { loop.openSockets } == 0)
    await server.shutdown()
  }
}
