import Foundation
import Testing

extension InteropPaths {
  /// Data channels between the bare `RTCPeerConnection` and another implementation, without media: channels of all kinds from either
  /// side, messages of all kinds both ways, bulk with a checksum, many at once, and closing while the other side sends.
  @Suite struct DataChannels {
    @Test(.needsBrowser) func withChromium() async throws {
      check(
        try await Scenario(name: "channels/chromium", limit: Self.limit).run(), offers: Self.both)
    }

    @Test(.needsFirefox) func withFirefox() async throws {
      check(
        try await Scenario(name: "channels/firefox", limit: Self.limit).run(), offers: Self.both)
    }

    @Test(.needsPeers) func withAiortc() async throws {
      check(
        try await Scenario(name: "channels/aiortc", limit: Self.limit).run(), offers: Self.both)
    }

    /// usrsctp is what it has for SCTP.
    @Test(.needsGStreamer) func withGStreamer() async throws {
      check(
        try await Scenario(name: "channels/gstreamer", limit: Self.limit).run(),
        offers: ["ours offers"], agreed: false)
    }

    struct ThroughServer: Decodable {
      /// By way.
      var ways: [String: Call.Bulk]
      var ended: [Ending]
    }

    /// Through the server, as it knows no other way: bulk alone, to the server and on to another of its kind. What channels there are and
    /// what small messages go over them is `OfficialSDK`'s.
    @Test(.needsPeers) func withOfficialSDK() async throws {
      let outcome = try await Scenario(name: "official/bulk", limit: Self.limit)
        .run(ThroughServer.self)
      #expect(Set(outcome.ways.keys) == ["toFirst", "toSecond"])
      check(outcome.ways)
      #expect(outcome.ended.map(\.code) == ["CLOSE_SUCCEEDED", "CLOSE_SUCCEEDED"])
    }

    private static let both: Set = ["ours offers", "theirs offers"]

    /// Bytes each way; `make channels-gigabyte` asks for more.
    private static let bulk =
      ProcessInfo.processInfo.environment["CHANNEL_BYTES"].flatMap { Int($0) } ?? 8 << 20

    /// What all but bulk takes, and bulk both ways at 20 Mbit/s.
    private static let limit = 240 + 2 * bulk / 2_500_000

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
        var came: [String]
      }
      struct Bulk: Decodable {
        var sentSum: UInt32
        var sum: UInt32
        var sentBytes: Int
        var bytes: Int
        var sentMessages: Int
        var messages: Int
        var seconds: Double
        var megabitsPerSecond: Double
      }
      var kinds: [String: Ends]
      /// By label, then by way.
      var messages: [String: [String: Messages]]
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

    private static let ways: Set = ["toTheirs", "toOurs"]

    private func check(_ outcome: Outcome, offers: Set<String>, agreed: Bool = true) {
      #expect(Set(outcome.calls.keys) == offers)
      for (name, call) in outcome.calls { check(name, call, agreed: agreed) }
      // One call a peer does everything.
      for call in outcome.calls.values where call.bulk != nil {
        #expect(Set((call.bulk ?? [:]).keys) == Self.ways)
        check(call.bulk ?? [:])
        #expect(call.many == [1000, 1000])
        #expect(call.closing == [true, true])
      }
      #expect(outcome.calls.values.contains { $0.bulk != nil })
    }

    private func check(_ bulk: [String: Call.Bulk]) {
      for (way, bulk) in bulk {
        #expect(bulk.sum == bulk.sentSum, "\(way)")
        #expect(bulk.bytes == bulk.sentBytes && bulk.messages == bulk.sentMessages, "\(way)")
        // Whole messages.
        #expect(bulk.bytes <= Self.bulk && bulk.bytes > Self.bulk - 65_536, "\(way)")
        print("\(way): \(bulk.bytes) bytes in \(bulk.seconds) s, \(bulk.megabitsPerSecond) Mbit/s")
      }
    }

    private func check(_ name: String, _ call: Call, agreed: Bool) {
      #expect(call.kinds.count == (agreed ? 9 : 8), "\(name)")
      for (label, ends) in call.kinds {
        #expect(ends.ours == ends.theirs, "\(name), \(label)")
        #expect(ends.ours.ordered != (label.hasSuffix("unordered") || label.hasSuffix("lifetime")))
        #expect(ends.ours.maxRetransmits == (label.hasSuffix("retransmits") ? 3 : 65_535))
        #expect(ends.ours.maxPacketLifeTime == (label.hasSuffix("lifetime") ? 5000 : 65_535))
        #expect(ends.ours.protocol == (label.hasSuffix("unordered") ? "sora" : ""))
        // Even streams are the DTLS client's, who answers here.
        if label != "agreed" {
          let isClient = label.hasPrefix("ours") != name.hasPrefix("ours")
          #expect(ends.ours.id.isMultiple(of: 2) == isClient, "\(name), \(label)")
        }
      }
      // Nothing is lost here, whatever a channel might give up.
      #expect(Set(call.messages.keys) == Set(call.kinds.keys))
      for (label, ways) in call.messages {
        #expect(Set(ways.keys) == Self.ways)
        let isOrdered = call.kinds[label]?.ours.ordered ?? true
        for (way, messages) in ways {
          #expect(messages.sent.count == (agreed ? 8 : 6))
          if isOrdered {
            #expect(messages.came == messages.sent, "\(name), \(label), \(way)")
          } else {
            #expect(messages.came.sorted() == messages.sent.sorted(), "\(name), \(label), \(way)")
          }
        }
      }
    }
  }
}
