import Testing

extension InteropPaths {
  /// The bare `RTCPeerConnection` and another implementation, without a server of signaling between them: every version
  /// and role of DTLS, ICE restarts from both sides, and relays. Pictures and sound cross both ways in each call.
  @Suite struct SecurePath {
    @Test(.needsBrowser, .needsCoturn) func withChromium() async throws {
      let outcome = try await Scenario(name: "secure/chromium", limit: 150).run(Outcome.self)
      try checkBrowser(outcome)
    }

    @Test(.needsFirefox, .needsCoturn) func withFirefox() async throws {
      let outcome = try await Scenario(name: "secure/firefox", limit: 150).run(Outcome.self)
      try checkBrowser(outcome)
    }

    /// OpenSSL's DTLS, which has no 1.3.
    @Test(.needsPeers) func withAiortc() async throws {
      let outcome = try await Scenario(name: "secure/aiortc").run(Outcome.self)
      #expect(Set(outcome.handshakes.keys) == Self.handshakes)
      for (name, call) in outcome.handshakes {
        check(name, call, version: "FEFD", role: name.hasPrefix("ours") ? "server" : "client")
        #expect(call.theirs.tlsVersion == "FEFD", "\(name)")
      }
    }

    /// OpenSSL's as well; it isn't asked for offers, but told which role it has.
    @Test(.needsGStreamer) func withGStreamer() async throws {
      let outcome = try await Scenario(name: "secure/gstreamer").run(Outcome.self)
      #expect(
        Set(outcome.handshakes.keys) == ["server", "server 1.2", "server libssl", "client 1.2"])
      for (name, call) in outcome.handshakes {
        check(name, call, version: "FEFD", role: name.hasPrefix("server") ? "server" : "client")
      }
    }

    struct Outcome: Decodable {
      var handshakes: [String: Call]
      var relays: [String: Call]?
    }

    struct Call: Decodable {
      struct Path: Decodable {
        var tlsVersion: String?
        var srtp: String?
        /// The addresses of the selected pair, its own first; nil where a peer's statistics don't tell.
        var pair: [String]?
        /// Types of the pair's candidates.
        var local: String?
        var remote: String?
        var relayProtocol: String?
        var frames: Int
        var sound: Int
        var ufrag: String
      }
      struct Ends: Decodable {
        var ours: Path
        var theirs: Path
      }
      struct Restart: Decodable {
        var before: Ends
        /// As soon as both sides used another pair.
        var moved: Ends
        var after: Ends
      }
      struct States: Decodable {
        var ours: [String]
        var theirs: [String]
      }
      var ours: Path
      var theirs: Path
      /// Our side's of DTLS.
      var role: String
      var restarts: [Restart]
      var states: States
      /// The states of the browser's DTLS transport, where ICE was restarted.
      var handshakes: [String]?
    }

    /// Who offers, and what our side is held to.
    private static let handshakes: Set = [
      "ours offers", "theirs offers", "ours offers 1.2", "theirs offers 1.2", "ours offers libssl",
    ]

    private func checkBrowser(_ outcome: Outcome) throws {
      #expect(Set(outcome.handshakes.keys) == Self.handshakes)
      for (name, call) in outcome.handshakes {
        let isNewest = name.hasSuffix("offers")
        let version = isNewest ? "FEFC" : "FEFD"
        check(name, call, version: version, role: name.hasPrefix("ours") ? "server" : "client")
        #expect(call.theirs.tlsVersion == version, "\(name)")
        #expect(call.theirs.srtp == call.ours.srtp, "\(name)")
        #expect(call.theirs.local == "host" && call.theirs.remote == "host", "\(name)")
        // One from each side.
        #expect(call.restarts.count == (isNewest ? 2 : 0), "\(name)")
        checkRestarts(name, call)
      }

      let relays = try #require(outcome.relays)
      #expect(
        Set(relays.keys) == [
          "ours udp", "ours tcp", "ours udp both", "coturn udp", "coturn tcp both",
        ])
      for (name, call) in relays {
        let both = name.hasSuffix("both")
        check(name, call, version: "FEFC", role: "client")
        #expect(call.theirs.local == "relay", "\(name)")
        #expect(call.theirs.relayProtocol == (name.contains("udp") ? "udp" : "tcp"), "\(name)")
        #expect(call.ours.local == (both ? "relay" : "host"), "\(name)")
        #expect(call.ours.remote == "relay", "\(name)")
        #expect(call.ours.relayProtocol == (both ? call.theirs.relayProtocol : nil), "\(name)")
        #expect(call.restarts.count == (both ? 1 : 0), "\(name)")
        for restart in call.restarts {
          #expect(restart.after.ours.local == "relay" && restart.after.theirs.local == "relay")
        }
        checkRestarts(name, call)
      }
    }

    /// That pictures and sound crossed is what the script has waited for.
    private func check(_ name: String, _ call: Call, version: String, role: String) {
      #expect(call.ours.tlsVersion == version, "\(name)")
      #expect(call.role == role, "\(name)")
      #expect(call.ours.srtp != nil, "\(name)")
      #expect(call.ours.frames > 0 && call.theirs.frames > 0, "\(name)")
      #expect(call.ours.sound > 0 && call.theirs.sound > 0, "\(name)")
      #expect(call.states.ours == ["connecting", "connected"], "\(name)")
      if let pair = call.theirs.pair { #expect(call.ours.pair == pair.reversed(), "\(name)") }
    }

    /// New credentials and another pair on both sides, media that goes on, and the keys of before.
    private func checkRestarts(_ name: String, _ call: Call) {
      for restart in call.restarts {
        #expect(restart.after.ours.pair == restart.after.theirs.pair?.reversed(), "\(name)")
        for end in [\Call.Ends.ours, \Call.Ends.theirs] {
          let (before, moved) = (restart.before[keyPath: end], restart.moved[keyPath: end])
          let after = restart.after[keyPath: end]
          #expect(before.ufrag != after.ufrag, "\(name)")
          #expect(before.pair != after.pair, "\(name)")
          #expect(after.frames > moved.frames, "\(name)")
          #expect(after.sound > moved.sound, "\(name)")
          #expect(before.srtp == after.srtp && before.tlsVersion == after.tlsVersion, "\(name)")
        }
      }
      guard !call.restarts.isEmpty else { return }
      #expect(call.handshakes == ["connecting", "connected"], "\(name)")
      // Firefox calls it connecting again while it looks for the new pair.
      #expect(Set(call.states.theirs) == ["connecting", "connected"], "\(name)")
      #expect(call.states.theirs.last == "connected", "\(name)")
    }
  }
}
