import Foundation
import Logging
import RedisServer
import SoraCluster
import SoraMedia
import Synchronization
import Testing

/// A cluster's store in a real Redis.
@Suite(
  .enabled(if: RedisServer.isInstalled, .init(rawValue: RedisServer.requirement)),
  .timeLimit(.minutes(5)))
struct RedisStoreTests {
  private func store(
    _ redis: RedisServer, _ id: String, _ timing: ClusterTiming = ClusterTiming()
  ) throws -> RedisStore {
    RedisStore(try RedisAddress(redis.url), id: id, timing: timing)
  }

  private func node(_ id: String) -> ClusterNode {
    ClusterNode(id: id, url: "ws://\(id)/signaling", apiURL: "http://\(id)/")
  }

  private func owner(_ reply: ClusterReply) -> String? {
    if case .placed(let id, _, _, _) = reply { id } else { nil }
  }

  @Test func scriptsDoWhatTheyShould() throws {
    let redis = try RedisServer()
    let (a, b) = (try store(redis, "a"), try store(redis, "b"))
    var first = node("a")
    first.load.connections = 7
    first.load.packetsPerSecond = 1234
    first.load.maximumConnections = 55
    _ = try a.perform(.beat(first))
    guard case .nodes(let peers) = try b.perform(.beat(node("b"))) else {
      Issue.record("no nodes")
      return
    }
    #expect(Set(peers.map(\.node)) == [first, node("b")])
    #expect(peers.allSatisfy { $0.remaining > .seconds(1) && $0.remaining <= .seconds(2) })
    // Names may hold anything.
    let channel = "kanal \u{0}\r\n:ü*{}"
    let reply = try a.perform(.place(channel: channel, candidate: "b"))
    guard case .placed("b", "ws://b/signaling", let remaining, true) = reply else {
      Issue.record("\(reply)")
      return
    }
    #expect(remaining > .seconds(1))
    #expect(owner(try a.perform(.place(channel: channel, candidate: "a"))) == "b")
    #expect(
      try a.perform(.find(channel: channel))
        == .found(ClusterOwner(id: "b", apiURL: "http://b/")))
    #expect(try a.perform(.find(channel: "none")) == .found(nil))
    // Who hasn't it can't keep or free it.
    #expect(try a.perform(.keep([channel, "other"], isDraining: false)) == .lost([channel]))
    #expect(try a.perform(.free([channel])) == .done)
    #expect(owner(try a.perform(.place(channel: channel, candidate: "a"))) == "b")
    #expect(owner(try b.perform(.place(channel: "other", candidate: "b"))) == "a")
    #expect(try b.perform(.keep([channel], isDraining: false)) == .lost([]))
    #expect(try b.perform(.free([channel])) == .done)
    #expect(owner(try a.perform(.place(channel: channel, candidate: "a"))) == "a")
    // A candidate that isn't there.
    #expect(owner(try b.perform(.place(channel: "third", candidate: "dead"))) == "b")
    // One that drains has nothing for newcomers, and claims nothing.
    first.isDraining = true
    _ = try a.perform(.beat(first))
    #expect(owner(try b.perform(.place(channel: channel, candidate: "a"))) == "b")
    #expect(try a.perform(.keep([channel, "fourth"], isDraining: true)) == .lost([channel]))
    #expect(try a.perform(.find(channel: "fourth")) == .found(nil))
    _ = try b.perform(.leave)
    #expect(owner(try a.perform(.place(channel: "third", candidate: "a"))) == "a")
    guard case .nodes(let left) = try a.perform(.beat(first)) else { return }
    #expect(left.map(\.node.id) == ["a"])
  }

  /// Others may write anything there: typed errors, and nobody else is the worse for it.
  @Test func whatMakesNoSenseIsPassedOver() throws {
    let redis = try RedisServer()
    let a = try store(redis, "a")
    // A node with half of its fields, one with other things in them, one that is no hash.
    try redis.command("HSET", "sora:node:half", "url", "ws://half/signaling")
    try redis.command(
      "HSET", "sora:node:odd", "url", "", "api", "", "connections", "-1", "channels", "x",
      "packets", "9223372036854775807", "most", "0", "draining", "maybe")
    try redis.command(
      "HSET", "sora:node:huge", "url", "ws://huge/signaling", "api", "", "connections",
      "9223372036854775807", "channels", "9223372036854775807", "packets", "-5", "most", "0",
      "draining", "2")
    for id in ["half", "odd", "huge"] {
      try redis.command("SADD", "sora:nodes", id)
      try redis.command("PEXPIRE", "sora:node:\(id)", "60000")
    }
    guard case .nodes(let peers) = try a.perform(.beat(node("a"))) else {
      Issue.record("no nodes")
      return
    }
    #expect(Set(peers.map(\.node.id)) == ["a", "huge"])
    // What it says of its load overflows nothing.
    var member = ClusterMember(node: node("a"), at: .zero)
    _ = member.nextRequest(at: .zero)
    member.received(.nodes(peers), at: .zero)
    member.place("x", ticket: 1, at: .zero)
    #expect(member.nextRequest(at: .zero) == .place(channel: "x", candidate: "a"))
    // A channel that is no text, and nodes that are no set.
    try redis.command("LPUSH", "sora:channel:list", "1")
    #expect(throws: ClusterError.self) { try a.perform(.place(channel: "list", candidate: "a")) }
    try redis.command("SET", "sora:nodes", "text")
    #expect(throws: ClusterError.self) { try a.perform(.beat(node("a"))) }
    try redis.command("DEL", "sora:nodes")
    _ = try a.perform(.beat(node("a")))
  }

  @Test func leasesAndPlacesEnd() async throws {
    let redis = try RedisServer()
    var timing = ClusterTiming()
    timing.lease = .milliseconds(300)
    timing.place = .milliseconds(900)
    let (a, b) = (try store(redis, "a", timing), try store(redis, "b", timing))
    _ = try a.perform(.beat(node("a")))
    #expect(owner(try a.perform(.place(channel: "x", candidate: "a"))) == "a")
    var nodes: [ClusterPeer] = []
    repeat {
      guard case .nodes(let found) = try b.perform(.beat(node("b"))) else { return }
      nodes = found
      try await Task.sleep(for: .milliseconds(20))
    } while nodes.count > 1
    #expect(owner(try b.perform(.place(channel: "x", candidate: "b"))) == "b")
    // And a place that nobody asks for again is gone, though its node is there.
    while try b.perform(.find(channel: "x")) != .found(nil) {
      _ = try b.perform(.beat(node("b")))
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Threads that ask for one channel at once: one gets it.
  @Test func oneOfManyGetsAChannel() async throws {
    let redis = try RedisServer()
    for number in 0..<20 {
      let owners = try await withThrowingTaskGroup(of: String?.self) { group in
        for id in ["a", "b", "c", "d"] {
          let address = try RedisAddress(redis.url)
          let node = node(id)
          group.addTask {
            let store = RedisStore(address, id: id)
            _ = try store.perform(.beat(node))
            guard
              case .placed(let owner, _, _, _) = try store.perform(
                .place(channel: "x\(number)", candidate: id))
            else { return nil }
            return owner
          }
        }
        return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
      }
      #expect(owners.count == 1 && owners != [nil])
    }
  }

  @Test func passwordsAreNeededAndNeverTold() async throws {
    let secret = "hunter2-and-more"
    let redis = try RedisServer(password: secret)
    _ = try store(redis, "a").perform(.beat(node("a")))
    let other = "wrong-but-secret"
    for (url, word) in [
      ("redis://127.0.0.1:\(redis.port)", "NOAUTH"),
      ("redis://:\(other)@127.0.0.1:\(redis.port)", "WRONGPASS"),
    ] {
      let address = try RedisAddress(url)
      do {
        _ = try RedisStore(address, id: "a").perform(.beat(node("a")))
        Issue.record("it was let in")
      } catch {
        #expect("\(error)".contains(word), "\(error)")
        #expect(!"\(error)".contains(other))
      }
      for text in ["\(address)", String(reflecting: address)] { #expect(!text.contains(other)) }
    }
    // From beside the URL, as from the environment; and of a user.
    let address = try RedisAddress("redis://127.0.0.1:\(redis.port)/2", password: secret)
    _ = try RedisStore(address, id: "a").perform(.beat(node("a")))
    let named = try RedisAddress("redis://default:\(secret)@127.0.0.1:\(redis.port)")
    _ = try RedisStore(named, id: "a").perform(.beat(node("a")))
  }

  @Test func aRedisThatHangsOrIsGoneHoldsUpNobodyForLong() throws {
    let redis = try RedisServer()
    let store = RedisStore(
      try RedisAddress(redis.url), id: "a", timeout: .milliseconds(100))
    _ = try store.perform(.beat(node("a")))
    redis.pause(true)
    #expect(throws: ClusterError.self) { try store.perform(.beat(node("a"))) }
    redis.pause(false)
    _ = try store.perform(.beat(node("a")))
    redis.stop()
    // Twice: on a connection that the other end has closed, and on none.
    for _ in 0..<2 { #expect(throws: ClusterError.self) { try store.perform(.beat(node("a"))) } }
    try redis.startAgain()
    _ = try store.perform(.beat(node("a")))
  }

  /// A resolver without a network takes many seconds: nobody waits for it for longer than for a Redis, and what it says at last counts.
  @Test func aNameThatIsNotResolvedHoldsUpNobody() throws {
    let redis = try RedisServer()
    let gate = DispatchSemaphore(value: 0)
    let questions = Mutex<[String]>([])
    let host = RedisHost("redis.example") { name in
      questions.withLock { $0.append(name) }
      gate.wait()
      // The first refuses connections.
      return .success(["127.255.255.254", "127.0.0.1"])
    }
    let store = RedisStore(
      try RedisAddress(redis.url), at: host, id: "a", timeout: .milliseconds(50))
    // Each returns while the resolver still has no answer, and none asks it once more.
    for _ in 0..<3 { #expect(throws: ClusterError.self) { try store.perform(.beat(node("a"))) } }
    #expect(questions.withLock { $0 } == ["redis.example"])
    gate.signal()
    var reply: ClusterReply?
    for _ in 0..<1000 where reply == nil { reply = try? store.perform(.beat(node("a"))) }
    #expect(reply != nil)
    #expect(questions.withLock { $0 }.count == 1)
  }

  @Test func whatIsNoURLIsRefusedWithoutRepeatingIt() throws {
    for url in [
      "", "127.0.0.1:6379", "http://h:1", "rediss://:geheim@h:1", "redis://",
      "redis://:geheim@:6379",
      "redis://h:0", "redis://h/x", "redis://h/-1", "redis://h?a=geheim", "redis://h/1/2",
    ] {
      do {
        _ = try RedisAddress(url)
        Issue.record("\(url)")
      } catch {
        #expect(!"\(error)".contains("geheim"))
      }
    }
    let address = try RedisAddress("redis://u%40:p%2F%40@[::1]:7000/3")
    #expect("\(address)" == "[::1]:7000/3")
    #expect("\(try RedisAddress("redis://example.org"))" == "example.org:6379/0")
  }
}
