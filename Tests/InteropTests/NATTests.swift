import Testing

extension InteropPaths {
  /// The bare `RTCPeerConnection` behind a router that translates addresses (netfilter's own), another implementation behind
  /// another, and STUN and TURN servers on the network between: the best pair that the routers allow is found, and pictures
  /// and sound cross both ways.
  @Suite struct NAT {
    @Test(.needsBrowser, .needsNATs) func withChromium() async throws {
      let outcome = try await Scenario(name: "nat/chromium", limit: 120).run(Outcome.self)
      try checkKinds(#require(outcome.kinds))
      check(outcome, Set(Self.paths.keys))
    }

    @Test(.needsNATs) func withOurselves() async throws {
      let outcome = try await Scenario(name: "nat/ours", limit: 120).run(Outcome.self)
      check(
        outcome, Set(Self.paths.keys).subtracting(["blocked", "blocked, serve", "theirs blocked"]))
    }

    @Test(.needsNATs) func withAiortc() async throws {
      let outcome = try await Scenario(name: "nat/aiortc").run(Outcome.self)
      check(outcome, ["symmetric and cone", "symmetric", "blocked"], restarts: false)
    }

    struct Served: Decodable {
      struct Pair: Decodable, Equatable {
        var local: String
        var remote: String
        var relayProtocol: String?
      }
      struct Played: Decodable {
        var frames: Int
        var backwards: Int
        var audioSeconds: Double
      }
      struct Call: Decodable {
        /// What the official client got of ours.
        var played: Played
        /// The official client's.
        var pair: Pair
        var ended: Ending
        /// `sora publish` and `sora play`.
        var statuses: [Int]
        var summaries: [Summary]
        var refused: [Int]
      }
      var calls: [String: Call]
    }

    /// `sora serve` on the network between, the official client behind one router and the tool behind another.
    @Test(.needsNATs) func ofTheServersClients() async throws {
      let outcome = try await Scenario(name: "nat/official").run(Served.self)
      #expect(outcome.calls.count == 4)
      for (name, call) in outcome.calls {
        #expect(call.statuses == [0, 0] && call.ended == .succeeded, "\(name)")
        #expect(call.played.frames > 30 && call.played.backwards == 0, "\(name)")
        #expect(call.played.audioSeconds > 0, "\(name)")
        for summary in call.summaries {
          #expect(try #require(summary.video).frames > 30, "\(name)")
          #expect(try #require(summary.audio).seconds > 0, "\(name)")
          #expect(summary.error == nil, "\(name)")
        }
        let isBlocked = name.hasPrefix("blocked")
        // Both tried datagrams first.
        #expect(call.refused.allSatisfy { ($0 > 0) == isBlocked }, "\(name)")
        #expect(call.pair.remote == "host" && (call.pair.local == "relay") == isBlocked, "\(name)")
      }
      #expect(outcome.calls["blocked"]?.pair.relayProtocol == "tcp")
      #expect(outcome.calls["blocked but TLS"]?.pair.relayProtocol == "tls")
    }

    struct Outcome: Decodable {
      var kinds: [String: Kind]?
      var calls: [String: Call]
    }

    /// What a router was seen to do.
    struct Kind: Decodable, Equatable {
      /// How many ports a host's one port becomes, for two servers.
      var ports: Int
      var keepsPort: Bool
      /// Whether somebody gets in whom the host hasn't sent to.
      var strangers: Bool
      /// Whether the other host's own address was reached.
      var reachesInside: Bool
    }

    struct Call: Decodable {
      struct Move: Decodable {
        var before: SecurePath.Call.Ends
        var after: SecurePath.Call.Ends
      }
      var ours: SecurePath.Call.Path
      var theirs: SecurePath.Call.Path
      var restarts: [SecurePath.Call.Restart]
      var moves: [Move]
      var states: SecurePath.Call.States
      /// Datagrams that our router and theirs refused because no UDP passes.
      var refused: [Int]
    }

    /// What the path of a call has to be.
    private enum Path {
      /// No relay.
      case direct
      /// One relay, whosever.
      case relayed
      /// Our relay, spoken to over this; no other.
      case ours(String)
      /// The other end's relay; no other.
      case theirs(String)
    }

    private static let paths: [String: Path] = [
      "restricted": .direct, "symmetric and cone": .direct, "cone and symmetric": .direct,
      "symmetric and restricted": .relayed, "symmetric": .relayed,
      "blocked": .ours("tcp"), "blocked, serve": .ours("tcp"), "blocked, TLS": .ours("tls"),
      "theirs blocked": .theirs("tcp"),
    ]

    /// The routers do what the calls are meant to get through.
    private func checkKinds(_ kinds: [String: Kind]) throws {
      let restricted = Kind(ports: 1, keepsPort: true, strangers: false, reachesInside: false)
      #expect(kinds.count == 4)
      #expect(kinds["restricted"] == restricted)
      #expect(
        kinds["symmetric"]
          == Kind(ports: 2, keepsPort: false, strangers: false, reachesInside: false))
      #expect(
        kinds["cone"] == Kind(ports: 1, keepsPort: true, strangers: true, reachesInside: false))
      #expect(kinds["blocked"]?.ports == 0)
    }

    private func check(_ outcome: Outcome, _ names: Set<String>, restarts: Bool = true) {
      #expect(Set(outcome.calls.keys) == names)
      for (name, call) in outcome.calls {
        #expect(call.ours.frames > 0 && call.theirs.frames > 0, "\(name)")
        #expect(call.ours.sound > 0 && call.theirs.sound > 0, "\(name)")
        checkPath(name, call)
        #expect((call.refused[0] > 0) == name.hasPrefix("blocked"), "\(name)")
        #expect((call.refused[1] > 0) == (name == "theirs blocked"), "\(name)")

        let wanted = ["restricted": 2, "symmetric": 1][name] ?? 0
        #expect(call.restarts.count == (restarts ? wanted : 0), "\(name)")
        for restart in call.restarts {
          for end in [\SecurePath.Call.Ends.ours, \.theirs] {
            #expect(restart.before[keyPath: end].ufrag != restart.after[keyPath: end].ufrag)
            #expect(restart.after[keyPath: end].frames > restart.moved[keyPath: end].frames)
          }
        }
        checkMoves(name, call)
      }
    }

    private func checkPath(_ name: String, _ call: Call) {
      let relays = [call.ours.local == "relay", call.ours.remote == "relay"]
      // Both ends see one path.
      #expect(relays == [call.theirs.remote == "relay", call.theirs.local == "relay"], "\(name)")
      switch Self.paths[name] {
      case .direct?:
        #expect(relays == [false, false], "\(name)")
        // What our router makes of us, as our own statistics have it: each end but the ones in the open is behind one.
        #expect(call.ours.local == "srflx" || call.ours.local == "prflx", "\(name)")
        #expect(call.ours.remote == "srflx" || call.ours.remote == "prflx", "\(name)")
        #expect(call.theirs.remote == "srflx" || call.theirs.remote == "prflx", "\(name)")
      case .relayed?: #expect(relays.count { $0 } == 1, "\(name)")
      case .ours(let transport)?:
        #expect(relays == [true, false] && call.ours.relayProtocol == transport, "\(name)")
      case .theirs(let transport)?:
        #expect(relays == [false, true], "\(name)")
        #expect(call.theirs.relayProtocol == transport, "\(name)")
      case nil: Issue.record("no path for \(name)")
      }
    }

    /// A side whose router forgot is seen elsewhere, and the same call goes on.
    private func checkMoves(_ name: String, _ call: Call) {
      #expect(call.moves.count == (name.contains("cone") ? 1 : 0), "\(name)")
      for move in call.moves {
        let stays = name == "symmetric and cone" ? \SecurePath.Call.Ends.theirs : \.ours
        #expect(move.before[keyPath: stays].pair?.last != move.after[keyPath: stays].pair?.last)
        for end in [\SecurePath.Call.Ends.ours, \.theirs] {
          #expect(move.before[keyPath: end].ufrag == move.after[keyPath: end].ufrag, "\(name)")
        }
      }
      // Until the new address is known, nothing comes in.
      #expect(call.states.ours.starts(with: ["connecting", "connected"]), "\(name)")
      #expect(call.states.ours.last == "connected", "\(name)")
      let detours = call.states.ours.filter { $0 == "disconnected" }.count
      #expect(detours <= call.moves.count && !call.states.ours.contains("failed"), "\(name)")
    }
  }
}
