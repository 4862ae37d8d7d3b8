import SoraCluster
import SoraMedia
import Testing

/// Which node has a channel, in virtual time.
struct ClusterMemberTests {
  private func cluster(
    _ ids: [String] = ["a", "b", "c"], skews: [Duration] = []
  ) -> SimulatedCluster {
    let cluster = SimulatedCluster(ids, skews: skews)
    // Each has heard of the others with its second sign of life.
    cluster.run(for: .milliseconds(600))
    return cluster
  }

  @Test func aChannelStaysOnItsNodeAndIsFreeBehindTheLast() {
    let cluster = cluster()
    #expect(cluster.join("x", at: "a") == "a")
    for id in ["b", "c", "a"] { #expect(cluster.join("x", at: id) == "a", "\(id)") }
    // Much longer than a place lasts that nobody asks for again.
    cluster.run(for: .seconds(60))
    #expect(cluster.store.owner(of: "x", at: cluster.now) == "a")
    cluster["a"].member.emptied("x")
    #expect(
      cluster.run(for: .milliseconds(100)) {
        cluster.store.owner(of: "x", at: cluster.now) == nil
      })
    #expect(cluster["a"].member.placeCount == 0)
    #expect(cluster.join("x", at: "b") == "b")
  }

  @Test func theEmptierNodeGetsTheChannel() {
    let cluster = cluster()
    var load = ClusterLoad()
    load.connections = 100
    cluster["a"].member.report(load)
    load.connections = 50
    cluster["b"].member.report(load)
    cluster.run(for: .seconds(1))
    #expect(cluster.join("x", at: "a") == "c")
    // Connections aren't all: one that sends as much as it can takes nothing more.
    load = ClusterLoad()
    load.packetsPerSecond = 240_000
    cluster["c"].member.report(load)
    cluster.run(for: .seconds(1))
    #expect(cluster.join("y", at: "c") == "b")
    // A few connections more are no reason to send anybody away.
    load = ClusterLoad()
    load.connections = 53
    cluster["a"].member.report(load)
    cluster.run(for: .seconds(1))
    #expect(cluster.join("z", at: "a") == "a")
  }

  @Test func manyNewChannelsDoNotAllGoToTheEmptiest() {
    let cluster = cluster()
    var load = ClusterLoad()
    load.connections = 100
    cluster["a"].member.report(load)
    cluster.run(for: .seconds(1))
    // All between two signs of life: nobody has told of any yet.
    let tickets = (0..<40).map { cluster.place("channel\($0)", on: "a") }
    let node = cluster["a"]
    #expect(
      cluster.run(for: .milliseconds(450)) { tickets.allSatisfy { node.decisions[$0] != nil } })
    let b = tickets.count { node.decisions[$0] == .elsewhere("ws://b/signaling") }
    let c = tickets.count { node.decisions[$0] == .elsewhere("ws://c/signaling") }
    #expect(b + c == 40 && abs(b - c) <= 1, "\(b) \(c)")
  }

  /// Two nodes place one channel in the same millisecond, a hundred times.
  @Test func twoNodesNeverBothHaveAChannel() {
    let cluster = cluster()
    for number in 0..<100 {
      let channel = "race\(number)"
      let (first, second) = (cluster.place(channel, on: "a"), cluster.place(channel, on: "b"))
      let (a, b) = (cluster["a"], cluster["b"])
      #expect(
        cluster.run(for: .seconds(1)) { a.decisions[first] != nil && b.decisions[second] != nil })
      let owner = cluster.store.owner(of: channel, at: cluster.now)
      for (decision, own) in [(a.decisions[first], "a"), (b.decisions[second], "b")] {
        if decision == .here {
          #expect(owner == own)
        } else {
          #expect(decision == .elsewhere("ws://\(owner ?? "")/signaling"))
        }
      }
    }
  }

  /// The last one leaves while the next is on its way in.
  @Test func aPlaceIsHeldForWhoWasLetIn() {
    let cluster = cluster()
    #expect(cluster.join("x", at: "a") == "a")
    let node = cluster["a"]
    let ticket = cluster.place("x", on: "a")
    cluster.run(for: .milliseconds(10))
    #expect(node.decisions[ticket] == .here)
    node.member.emptied("x")
    cluster.run(for: .seconds(1))
    #expect(cluster.store.owner(of: "x", at: cluster.now) == "a")
    node.member.settle("x", isOccupied: true)
    cluster.run(for: .seconds(1))
    #expect(cluster.store.owner(of: "x", at: cluster.now) == "a")
    node.member.emptied("x")
    cluster.run(for: .milliseconds(100))
    #expect(cluster.store.owner(of: "x", at: cluster.now) == nil)
  }

  /// A client that was sent somewhere and never comes there.
  @Test func aPlaceThatNobodyTakesIsFreeAgain() {
    let cluster = cluster()
    var load = ClusterLoad()
    load.connections = 100
    cluster["a"].member.report(load)
    cluster.run(for: .seconds(1))
    let ticket = cluster.place("x", on: "a")
    let node = cluster["a"]
    #expect(cluster.run(for: .seconds(1)) { node.decisions[ticket] != nil })
    #expect(node.decisions[ticket] != .here)
    #expect(cluster.store.owner(of: "x", at: cluster.now) != nil)
    cluster.run(for: cluster.timing.place)
    #expect(cluster.store.placeCount(at: cluster.now) == 0)
  }

  /// Clocks that began at other times say nothing wrong: only durations are compared.
  @Test func clocksMayDiffer() {
    let cluster = cluster(skews: [.seconds(86_400), .seconds(-400), .zero])
    #expect(cluster.join("x", at: "b") == "b")
    #expect(cluster.join("x", at: "a") == "b" && cluster.join("x", at: "c") == "b")
    for node in cluster.nodes {
      #expect(node.member.nodes(at: cluster.now + node.skew).count == 3, "\(node.id)")
      #expect(node.log == ["linked"], "\(node.id)")
    }
    cluster["b"].isAlive = false
    #expect(cluster.join("x", at: "c") != "b")
  }

  @Test func aDeadNodesChannelsAreFreeWithinItsLease() {
    let cluster = cluster()
    #expect(cluster.join("x", at: "a") == "a")
    cluster["a"].isAlive = false
    let death = cluster.now
    // Who comes at once is sent to the dead, as nobody knows; who comes when it has missed signs of life waits, and stays.
    #expect(cluster.join("x", at: "b") == nil)
    cluster.run(for: .milliseconds(1_000))
    let found = cluster.join("x", at: "c")
    #expect(found == "b" || found == "c")
    #expect(cluster.now - death <= cluster.timing.lease + .milliseconds(300))
    #expect(
      cluster["b"].member.nodes(at: cluster.now + .seconds(1)).contains { $0.id == "a" } == false)
  }

  /// A node that is started again has another name, and nothing that it had before.
  @Test func aNodeThatComesBackIsANewOne() {
    let cluster = cluster()
    #expect(cluster.join("x", at: "a") == "a")
    cluster.replace("a", by: "a2")
    cluster.run(for: .seconds(3))
    #expect(cluster.join("x", at: "a2") == "a2")
    #expect(cluster.join("x", at: "b") == "a2")
  }

  /// A process that stood still longer than its lease: others have its channel, and it gives it up.
  @Test func whoWasAwayGivesUpWhatOthersHave() {
    let cluster = cluster()
    #expect(cluster.join("x", at: "a") == "a" && cluster.join("y", at: "a") == "a")
    let sleeper = cluster["a"]
    sleeper.isAlive = false
    cluster.run(for: .seconds(3))
    #expect(cluster.join("x", at: "b") == "b")
    sleeper.isAlive = true
    #expect(cluster.run(for: .milliseconds(500)) { sleeper.moved == ["x"] })
    #expect(cluster.store.owner(of: "x", at: cluster.now) == "b")
    // What nobody has taken stays.
    #expect(cluster.store.owner(of: "y", at: cluster.now) == "a")
    #expect(sleeper.member.counts.moved == 1 && sleeper.member.placeCount == 1)
  }

  @Test func aConnectionBehindTheLossOfItsChannelIsTold() {
    let cluster = cluster()
    let ticket = cluster.place("x", on: "a")
    let node = cluster["a"]
    #expect(cluster.run(for: .seconds(1)) { node.decisions[ticket] == .here })
    node.isAlive = false
    cluster.run(for: .seconds(11))
    #expect(cluster.join("x", at: "b") == "b")
    node.isAlive = true
    #expect(cluster.run(for: .milliseconds(500)) { node.moved == ["x"] })
    node.member.settle("x", isOccupied: true)
    cluster.run(for: .milliseconds(10))
    #expect(node.moved == ["x", "x"] && node.member.placeCount == 0)
  }

  @Test func whileTheStoreIsAwayChannelsGoOnAndNewOnesWait() {
    let cluster = cluster()
    #expect(cluster.join("x", at: "a") == "a")
    cluster.store.isUp = false
    cluster.run(for: .seconds(20))
    #expect(cluster.join("x", at: "a") == "a")
    let before = cluster.now
    #expect(cluster.join("new", at: "a") == nil)
    #expect(cluster.now - before <= .seconds(4))
    #expect(cluster["a"].member.counts.unavailable == 1)
    let ticket = cluster.locate("elsewhere", on: "a")
    let node = cluster["a"]
    #expect(cluster.run(for: .seconds(4)) { node.locations[ticket] == .unknown })
    // One that comes back within what a client waits is no trouble.
    let waiting = cluster.place("newer", on: "a")
    cluster.run(for: .milliseconds(500))
    cluster.store.isUp = true
    #expect(cluster.run(for: .seconds(3)) { node.decisions[waiting] != nil })
    #expect(node.decisions[waiting] == .here)
    #expect(node.log == ["linked", "unlinked", "linked"])
  }

  /// A store that was started again knows nothing. Who has a channel says so before others can take it.
  @Test func aStoreThatForgotIsToldAgain() {
    let cluster = cluster()
    for number in 0..<500 { #expect(cluster.join("c\(number)", at: "a") != nil) }
    let owners = (0..<500).map { cluster.store.owner(of: "c\($0)", at: cluster.now) }
    cluster.store.isUp = false
    cluster.run(for: .seconds(1))
    cluster.store.clear()
    cluster.store.isUp = true
    // From the first moment on somebody asks for them, at a node that hasn't them.
    #expect(cluster.join("c0", at: owners[0] == "b" ? "c" : "b") == owners[0])
    cluster.run(for: .seconds(2))
    for number in 0..<500 {
      #expect(cluster.store.owner(of: "c\(number)", at: cluster.now) == owners[number])
    }
    #expect(cluster.nodes.allSatisfy { $0.moved.isEmpty })
  }

  /// One node alone doesn't reach the store.
  @Test func aNodeBehindABrokenLinkGivesUpWhenItIsBack() {
    let cluster = cluster()
    #expect(cluster.join("x", at: "a") == "a")
    cluster["a"].isConnected = false
    cluster.run(for: .seconds(3))
    #expect(cluster.join("x", at: "a") == "a")
    #expect(cluster.join("x", at: "c") == "c")
    cluster["a"].isConnected = true
    let node = cluster["a"]
    #expect(cluster.run(for: .seconds(1)) { node.moved == ["x"] })
    #expect(cluster.join("x", at: "a") == "c")
  }

  @Test func aNodeThatDrainsTakesNoChannelAndLosesItsOwn() {
    let cluster = cluster()
    #expect(cluster.join("x", at: "a") == "a" && cluster.join("y", at: "a") == "a")
    let node = cluster["a"]
    node.member.drain(ticket: 999, at: cluster.now)
    #expect(cluster.run(for: .milliseconds(100)) { node.log.contains("beaten 999") })
    #expect(node.member.other(at: cluster.now)?.id == "b")
    #expect(cluster.join("new", at: "a") == "b")
    // Those who are there go on, until somebody wants to join them: then all meet elsewhere.
    cluster.run(for: .seconds(4))
    #expect(node.moved.isEmpty)
    #expect(cluster.join("x", at: "c") == "c")
    #expect(cluster.run(for: .seconds(4)) { node.moved == ["x"] })
    node.member.leave()
    #expect(cluster.run(for: .milliseconds(100)) { node.log.last == "left" })
    #expect(cluster.join("y", at: "b") == "b")
    #expect(node.member.nextDeadline == nil)
  }

  @Test func theLastNodeThatDrainsHasNowhereToSend() {
    let cluster = cluster(["a"])
    cluster["a"].member.drain(ticket: 1, at: cluster.now)
    cluster.run(for: .milliseconds(100))
    #expect(cluster["a"].member.other(at: cluster.now) == nil)
    #expect(cluster.join("x", at: "a") == nil)
  }

  @Test func theAPIFindsTheNode() {
    let cluster = cluster()
    #expect(cluster.join("x", at: "a") == "a")
    let asked = ["a", "b"].map { ($0, cluster.locate("x", on: $0)) }
    let nowhere = cluster.locate("nothing", on: "c")
    cluster.run(for: .milliseconds(100))
    #expect(cluster["a"].locations[asked[0].1] == .here)
    #expect(
      cluster["b"].locations[asked[1].1] == .node(ClusterOwner(id: "a", apiURL: "http://a/")))
    #expect(cluster["c"].locations[nowhere] == .nowhere)
  }

  /// Nodes that come and go, links that break, clients everywhere, for ten minutes: whatever happened, an answer comes in time, and once
  /// all is quiet each channel is on one node.
  @Test(arguments: [1, 2, 3] as [UInt64]) func whateverHappensItSettles(seed: UInt64) {
    let random = RandomSource(seed: seed)
    let cluster = SimulatedCluster(["a", "b", "c", "d"], skews: [.seconds(7), .seconds(-7)])
    var members: [String: Set<String>] = [:]
    var slowest = Duration.zero
    func drop(_ node: SimulatedNode) {
      for channel in node.moved where members[channel]?.contains(node.id) == true {
        members[channel]?.remove(node.id)
      }
    }
    for round in 0..<400 {
      let node = cluster.nodes[Int(random.next() % 4)]
      switch random.next() % 8 {
      case 0: node.isConnected.toggle()
      case 1: if round % 3 == 0 { cluster.store.isUp.toggle() }
      case 2: if round % 5 == 0 { cluster.store.clear() }
      default:
        let channel = "c\(random.next() % 20)"
        let before = cluster.now
        if let id = cluster.join(channel, at: node.id) { members[channel, default: []].insert(id) }
        slowest = max(slowest, cluster.now - before)
      }
      cluster.run(for: .milliseconds(Int64(random.next() % 300)))
      for node in cluster.nodes { drop(node) }
    }
    // Five hops of a client that waits as long as it may.
    #expect(slowest <= .seconds(20), "\(slowest)")
    cluster.store.isUp = true
    for node in cluster.nodes { node.isConnected = true }
    cluster.run(for: .seconds(10))
    for node in cluster.nodes { drop(node) }
    for number in 0..<20 {
      let channel = "c\(number)"
      let owner = cluster.store.owner(of: channel, at: cluster.now)
      let holders = cluster.nodes.filter { node in
        let ticket = cluster.locate(channel, on: node.id)
        cluster.run(for: .milliseconds(50))
        return node.locations[ticket] == .here
      }
      #expect(holders.map(\.id) == (owner.map { [$0] } ?? []), "\(channel)")
    }
  }
}
