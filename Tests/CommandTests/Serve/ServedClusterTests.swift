import Foundation
import RedisServer
import SoraSDK
import Synchronization
import Testing

/// `sora serve --cluster`: three servers and a Redis, and calls over them.
@Suite(
  .enabled(if: RedisServer.isInstalled, .init(rawValue: RedisServer.requirement)),
  .timeLimit(.minutes(5)))
struct ServedClusterTests {
  /// What happened to one side of a call, as it comes.
  private final class Member: Sendable {
    struct Connection: Sendable {
      var node: Int?
      var at: ContinuousClock.Instant
      var hasStream = false
    }

    private let connection: ReconnectingChannel
    private let history = Mutex<[Connection]>([])
    private let ending = Mutex<String?>(nil)
    private let reading = Mutex<Task<Void, Never>?>(nil)

    init(_ channel: String, _ role: SoraSDK.Role, _ ports: [Int]) async throws {
      let urls = ports.compactMap { URL(string: "ws://127.0.0.1:\($0)/signaling") }
      var configuration = SoraSDK.Configuration(urlCandidates: urls, channelId: channel, role: role)
      configuration.videoEnabled = false
      configuration.cameraSettings.isEnabled = false
      connection = try await Sora.shared.connect(
        configuration: configuration, reconnection: ReconnectionPolicy())
      let task = Task { [self] in
        for await event in connection.events {
          switch event {
          case .connected(let channel):
            let port = channel.connectedUrl?.port
            history.withLock { $0.append(Connection(node: port, at: .now)) }
          case .channel(.streamAdded):
            history.withLock { if !$0.isEmpty { $0[$0.count - 1].hasStream = true } }
          case .disconnected(let error): ending.withLock { $0 = "\(error as Any)" }
          default: break
          }
        }
      }
      reading.withLock { $0 = task }
    }

    var connections: [Connection] { history.withLock { $0 } }
    var end: String? { ending.withLock { $0 } }

    func leave() async {
      await connection.disconnect()
      await reading.withLock { $0 }?.value
    }
  }

  private struct CallPair: Sendable {
    var caller: Member
    var callee: Member

    /// The port of the node that both are on; nil where they aren't.
    func node(_ connection: Int) -> Int? {
      let (one, other) = (caller.connections, callee.connections)
      guard one.count == connection + 1, other.count == connection + 1,
        one[connection].node == other[connection].node, other[connection].hasStream
      else { return nil }
      return one[connection].node
    }
  }

  /// Waits until something is so; gives up after a time that no test should need.
  private func waits(_ isSo: () -> Bool) async -> Bool {
    for _ in 0..<12_000 {
      if isSo() { return true }
      try? await Task.sleep(for: .milliseconds(5))
    }
    return false
  }

  private func serve(
    _ redis: RedisServer, port: Int = 0
  ) async throws -> (server: ServedProgram, port: Int) {
    try await ServedProgram.serve(
      port: port,
      [
        "--media-address", "127.0.0.1", "--api-port", "0", "--cluster", redis.url, "--drain-time",
        "1",
      ])
  }

  /// One of three nodes is killed under twenty calls.
  @Test func whoWasOnANodeThatDiesIsElsewhereWithinFiveSeconds() async throws {
    let redis = try RedisServer()
    var servers: [Int: ServedProgram] = [:]
    for _ in 0..<3 {
      let (server, port) = try await serve(redis)
      servers[port] = server
    }
    defer { for server in servers.values { server.crash() } }
    let ports = servers.keys.sorted()
    var calls: [CallPair] = []
    // All know all nodes: who answers first is taken, and sends them where they belong.
    for number in 0..<20 {
      calls.append(
        CallPair(
          caller: try await Member("call\(number)", .sendonly, ports),
          callee: try await Member("call\(number)", .recvonly, ports)))
    }
    #expect(await waits { calls.allSatisfy { $0.node(0) != nil } })
    let nodes = calls.map { $0.node(0) }
    let counts = ports.map { port in nodes.count { $0 == port } }
    // By load, whoever came where: were all on one node, it would have 57 connections and channels more than the others.
    #expect(counts.min() ?? 0 >= 2, "\(counts)")
    let victim = try #require(
      ports.max { a, b in nodes.count { $0 == a } < nodes.count { $0 == b } })
    let death = ContinuousClock.now
    servers.removeValue(forKey: victim)?.crash()
    let hit = zip(calls, nodes).filter { $0.1 == victim }.map(\.0)
    #expect(await waits { hit.allSatisfy { $0.node(1) != nil } })
    for call in hit {
      #expect(call.node(1) != victim)
      for member in [call.caller, call.callee] {
        let again = try #require(member.connections.dropFirst().first)
        #expect(again.at - death < .seconds(5), "\(again.at - death)")
      }
    }
    let times = hit.flatMap { [$0.caller, $0.callee] }
      .compactMap { $0.connections.dropFirst().first.map { $0.at - death } }
    print("killed under \(hit.count) of 20 calls (\(counts)): elsewhere after", times.sorted())
    // The others have noticed nothing.
    for (call, node) in zip(calls, nodes) where node != victim {
      #expect(call.node(0) == node && call.caller.end == nil && call.callee.end == nil)
    }
    await withTaskGroup(of: Void.self) { group in
      for call in calls {
        group.addTask {
          await call.caller.leave()
          await call.callee.leave()
        }
      }
    }
  }

  /// A server, calls on it, and then another: nobody can be anywhere but on the first.
  private func twoServers(
    _ redis: RedisServer, calls: (Int, Int) async throws -> Void
  ) async throws -> (first: ServedProgram, second: ServedProgram, other: Int) {
    let (first, port) = try await serve(redis)
    let (before, other) = try await serve(redis)
    before.crash()
    try await calls(port, other)
    let (second, _) = try await serve(redis, port: other)
    return (first, second, other)
  }

  /// The command's own programs: pictures flow again.
  @Test func picturesFlowAgainBehindANodesDeath() async throws {
    let redis = try RedisServer()
    let programs = Mutex<[ServedProgram]>([])
    defer { for program in programs.withLock({ $0 }) { program.crash() } }
    func plays(_ player: ServedProgram, anew: Int) async throws -> Bool {
      try await player.line {
        $0.contains("\"reconnections\":\(anew)") && $0.contains("\"streamsLive\":1")
          && !$0.contains("\"video\":null")
      } != nil
    }
    let (first, second, _) = try await twoServers(redis) { port, other in
      let common = [
        "ws://127.0.0.1:\(port)/signaling", "--or-url", "ws://127.0.0.1:\(other)/signaling",
        "--channel", "c", "--json", "--reconnect", "--duration", "120",
      ]
      let publisher = try ServedProgram(
        ["publish"] + common + ["--video-codec", "vp8", "--resolution", "320x180", "--fps", "10"])
      let player = try ServedProgram(["play"] + common)
      programs.withLock { $0 = [player, publisher] }
      #expect(try await plays(player, anew: 0))
    }
    programs.withLock { $0.append(second) }
    first.crash()
    let player = try #require(programs.withLock { $0.first })
    #expect(try await plays(player, anew: 1))
  }

  /// A server that drains has its clients go to another at its end.
  @Test func aServerThatDrainsMovesItsCalls() async throws {
    let redis = try RedisServer()
    let members = Mutex<[Member]>([])
    let (first, second, other) = try await twoServers(redis) { port, other in
      let member = try await Member("x", .recvonly, [port, other])
      members.withLock { $0 = [member] }
    }
    defer { second.crash() }
    let member = try #require(members.withLock { $0.first })
    first.terminate()
    #expect(await waits { member.connections.count == 2 })
    #expect(member.connections.last?.node == other)
    #expect(first.status() == 0)
    await member.leave()
  }
}
