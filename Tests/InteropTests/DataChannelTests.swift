import Testing

extension Interop {
  /// Data channels between the bare `RTCPeerConnection` and another implementation, without media: channels of all kinds from either
  /// side, messages of all kinds both ways, bulk with a checksum, many at once, and closing while the other side sends.
  @Suite struct DataChannels {
    @Test(.needsBrowser) func withChromium() async throws {
      check(try await Scenario(name: "channels/chromium", limit: 150).run(), offers: Self.both)
    }

    @Test(.needsFirefox) func withFirefox() async throws {
      check(try await Scenario(name: "channels/firefox", limit: 150).run(), offers: Self.both)
    }

    @Test(.needsPeers) func withAiortc() async throws {
      check(try await Scenario(name: "channels/aiortc").run(), offers: Self.both)
    }

    /// usrsctp is what it has for SCTP.
    @Test(.needsGStreamer) func withGStreamer() async throws {
      check(
        try await Scenario(name: "channels/gstreamer").run(), offers: ["ours offers"], agreed: false
      )
    }

    private static let both: Set = ["ours offers", "theirs offers"]

    struct Call: Decodable {
      struct Facts: Decodable, Equatable {
        var id: Int
        var ordered: Bool
        var `protocol`: String
        var maxRetransmits: Int
        var maxPacketLifeTime: Int
      }
      struct Ends: Decodable {
        var ours: Facts
        var theirs: Facts
      }
      /// Kind, size and CRC-32 of each message.
      struct Messages: Decodable {
        var sent: [String]
        var toTheirs: [String]
        var toOurs: [String]
      }
      struct Bulk: Decodable {
        var sentSum: UInt32
        var sum: UInt32
        var sentBytes: Int
        var bytes: Int
        var sentMessages: Int
        var messages: Int
        var megabitsPerSecond: Double
      }
      var kinds: [String: Ends]
      var messages: [String: Messages]
      var bulk: [String: Bulk]?
      /// How many channels there were, and of how many each message came.
      var many: [Int]?
      var closing: [Bool]?
    }

    /// What `run.py` adds isn't a call.
    struct Outcome: Decodable {
      var calls: [String: Call]

      private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
      }

      init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        calls = [:]
        for key in values.allKeys where key.stringValue.hasSuffix("offers") {
          calls[key.stringValue] = try values.decode(Call.self, forKey: key)
        }
      }
    }

    private func check(_ outcome: Outcome, offers: Set<String>, agreed: Bool = true) {
      #expect(Set(outcome.calls.keys) == offers)
      for (name, call) in outcome.calls { check(name, call, agreed: agreed) }
      // One call a peer does everything.
      for call in outcome.calls.values where call.bulk != nil {
        #expect(Set((call.bulk ?? [:]).keys) == ["toTheirs", "toOurs"])
        for (way, bulk) in call.bulk ?? [:] {
          #expect(bulk.sum == bulk.sentSum, "\(way)")
          #expect(bulk.bytes == bulk.sentBytes && bulk.messages == bulk.sentMessages, "\(way)")
          print("\(way): \(bulk.megabitsPerSecond) Mbit/s")
        }
        #expect(call.many?.first == call.many?.last && call.many?.first ?? 0 >= 100)
        #expect(call.closing == [true, true])
      }
      #expect(outcome.calls.values.contains { $0.bulk != nil })
    }

    private func check(_ name: String, _ call: Call, agreed: Bool) {
      #expect(call.kinds.count == (agreed ? 9 : 8), "\(name)")
      for (label, ends) in call.kinds {
        #expect(ends.ours == ends.theirs, "\(name), \(label)")
        #expect(ends.ours.ordered != (label.hasSuffix("unordered") || label.hasSuffix("lifetime")))
        #expect(ends.ours.maxRetransmits == (label.hasSuffix("retransmits") ? 3 : 65_535))
        #expect(ends.ours.maxPacketLifeTime == (label.hasSuffix("lifetime") ? 500 : 65_535))
        #expect(ends.ours.protocol == (label.hasSuffix("unordered") ? "sora" : ""))
        // Even streams are the DTLS client's, who answers here.
        if label != "agreed" {
          let isClient = label.hasPrefix("ours") != name.hasPrefix("ours")
          #expect(ends.ours.id.isMultiple(of: 2) == isClient, "\(name), \(label)")
        }
      }
      #expect(
        Set(call.messages.keys)
          == Set(["ours reliable", "theirs reliable"] + (agreed ? ["agreed"] : [])))
      for (label, messages) in call.messages {
        #expect(messages.sent.count >= 5)
        #expect(messages.toTheirs == messages.sent, "\(name), \(label)")
        #expect(messages.toOurs == messages.sent, "\(name), \(label)")
      }
    }
  }
}
