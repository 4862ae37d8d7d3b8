import CSoraMallocCount
import Foundation
import SignalingTestSupport
import SoraMedia
import SoraSDK
import SoraSignaling
import Synchronization
import Testing
import WebRTC

/// What is left of connections in a process, in one of its own: this test's other half, which other tests would disturb.
@Suite(.timeLimit(.minutes(15))) struct CycleTests {
  static let variable = "SORA_CYCLES"

  @Test(.enabled(if: ProcessInfo.processInfo.environment[variable] == nil))
  func nothingIsLeftOfConnections() async throws {
    // In many arenas freed pieces lie about, and what is resident comes and goes by some percent.
    let (status, text) = try await runAlone(
      "CyclesOfAProcess", environment: [Self.variable: "200", "MALLOC_ARENA_MAX": "1"])
    #expect(status == 0, "\(text.suffix(2000))")
    // It has run, and hasn't been left out.
    #expect(text.contains("after 200 cycles"), "\(text.suffix(2000))")
    for line in text.split(separator: "\n") where line.contains("cycles: ") { print(line) }
  }
}

/// The process that `CycleTests` starts.
@Suite(
  .enabled(if: ProcessInfo.processInfo.environment[CycleTests.variable] != nil), .serialized,
  .timeLimit(.minutes(15)))
struct CyclesOfAProcess {
  /// Channels that were, held weakly: their tasks hold them while they run.
  private final class Channels: Sendable {
    private struct Reference: Sendable { weak let channel: MediaChannel? }
    private let all = Mutex<[Reference]>([])

    func append(_ channel: MediaChannel) { all.withLock { $0.append(Reference(channel: channel)) } }
    var count: Int { all.withLock { $0.count { $0.channel != nil } } }
  }

  private let channels = Channels()

  /// One connection with a server of its own, which sends some pictures and sound, and its end.
  private func cycle(together count: Int = 1) async throws {
    try await withThrowingTaskGroup { group in
      for _ in 0..<count {
        group.addTask {
          let far = try await FarEnd(receives: true)
          let server = try await ScriptedSora { connection, message in
            if case .connect = message { connection.send(far.offer()) }
            // What comes when it has ended, such as a late candidate, is nobody's.
            try? await far.handle(message)
          }
          let channel = try await Sora.shared.connect(configuration: server.configuration())
          channels.append(channel)
          let picture = PixelBuffer(width: 160, height: 90, format: .i420) { _ in }
          channel.senderStream?.send(videoFrame: VideoFrame(from: picture))
          channel.senderStream?.send(
            audioFrame: AudioFrame(
              samples: [Int16](repeating: 0, count: 960), sampleRate: 48_000))
          await channel.disconnect()
          far.peer.close()
          await server.server.stop()
        }
      }
      try await group.waitForAll()
    }
  }

  /// What the process uses once it is no more than before, or after half a minute: threads that nobody needs go after some seconds.
  private func settled(
    _ limit: ProcessUsage? = nil, heap: Int = .max
  ) async throws -> ProcessUsage {
    for _ in 0..<60 {
      try await Task.sleep(for: .milliseconds(500))
      let usage = ProcessUsage()
      if let limit, channels.count == 0, usage.threads <= limit.threads,
        usage.descriptors <= limit.descriptors, Self.heap <= heap
      {
        return usage
      }
    }
    return ProcessUsage()
  }

  /// Bytes that are allocated.
  private static var heap: Int { Int(sora_malloc_in_use()) }
  /// Bytes that a connection may leave: a timer that runs for as long as it may take to connect, and what Dispatch keeps for the next.
  private static let mostLeft = 4_096

  @Test func measured() async throws {
    let cycles = Int(ProcessInfo.processInfo.environment[CycleTests.variable] ?? "") ?? 200
    Logger.shared.printsToStandardError = false
    // What a process makes once and keeps: libraries, pools, threads.
    for _ in 0..<cycles / 4 { try await cycle() }
    for _ in 0..<3 { try await cycle(together: 50) }
    let before = try await (settled(), Self.heap)
    print("cycles: before, \(before.0), \(before.1 >> 10) KiB of heap")
    for _ in 0..<cycles { try await cycle() }
    let after = try await (
      settled(before.0, heap: before.1 + cycles * Self.mostLeft), Self.heap
    )
    print("cycles: after \(cycles) cycles, \(after.0), \(after.1 >> 10) KiB of heap")
    try await cycle(together: 50)
    let last = try await (
      settled(before.0, heap: before.1 + (cycles + 50) * Self.mostLeft), Self.heap
    )
    print("cycles: after 50 connections at once, \(last.0), \(last.1 >> 10) KiB of heap")
    for ((usage, heap), count) in [(after, cycles), (last, cycles + 50)] {
      #expect(usage.descriptors <= before.0.descriptors)
      #expect(usage.threads <= before.0.threads)
      #expect(Double(usage.residentBytes) <= Double(before.0.residentBytes) * 1.05)
      #expect(heap <= before.1 + count * Self.mostLeft)
    }
    #expect(channels.count == 0)
    #expect(Sora.shared.mediaChannels.isEmpty)
  }
}
