import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraServer
import SoraSignalingMessages
import SoraTransport
import Testing

/// What clients offer, from literal descriptions, and what it is answered with.
struct ClientOfferTests {
  private func world() throws -> (SimulatedNetwork, TestServer) {
    let network = SimulatedNetwork(seed: 71)
    return (network, try TestServer(network))
  }

  @Test func aPublishersOfferIsAnsweredSectionBySection() throws {
    let (_, server) = try world()
    let client = try OfferingClient(1, server)
    let answer = try client.post(OfferTexts.both("sendonly"), to: .publish)
    #expect(answer.media.map(\.kind) == ["audio", "video"])
    #expect(answer.media.map(\.mid) == ["0", "1"])
    #expect(answer.bundle == ["0", "1"])
    #expect(answer.isICELite && answer.allowsMixedExtensions)
    for media in answer.media {
      #expect(media.port == 9 && media.direction == .recvonly && media.rtcpMux)
      #expect(media.rtcpReducedSize && media.setup == .passive)
      #expect(media.fingerprints.count == 1 && media.iceUfrag != nil && media.sources.isEmpty)
      // What both know, under the client's ids.
      #expect(media.extensions.map(\.id) == [9, 10, 11])
    }
    // One codec each: what the client likes best, with its own numbers; and the same with copies.
    #expect(answer.media[0].codecs.map(\.payloadType) == [111, 63])
    #expect(answer.media[1].formats == ["96", "97"])
    let vp8 = answer.media[1].codecs[0]
    #expect(vp8.name == "VP8")
    #expect(Set(vp8.feedback) == ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"])
    #expect(answer.media[1].codecs[1].associatedPayloadType == 96)
    #expect(!answer.media[0].candidates.isEmpty && answer.media[1].candidates.isEmpty)
    let status = try #require(client.status)
    #expect(status.role == .sendonly && status.channelID == "room" && !status.isConnected)
    #expect(status.tracks.map(\.codec) == ["opus", "VP8"])
  }

  /// RFC 8888 §6: an answer has one way of congestion feedback; what is asked for by both it has by source.
  @Test(arguments: [SFUOfferPurpose.publish, .play])
  func feedbackBySourceIsGivenToWhoAsksForIt(_ purpose: SFUOfferPurpose) throws {
    let (_, server) = try world()
    let direction = purpose == .publish ? "sendonly" : "recvonly"
    let client = try OfferingClient(1, server)
    let answer = try client.post(
      OfferTexts.both(direction, more: "a=rtcp-fb:* ack ccfb\n"), to: purpose)
    #expect(!answer.media[0].hasFeedbackBySource && answer.media[1].hasFeedbackBySource)
    #expect(answer.media[0].codecs[0].feedback == ["transport-cc"])
    let vp8 = answer.media[1].codecs[0]
    #expect(Set(vp8.feedback) == ["ack ccfb", "ccm fir", "nack", "nack pli"])
  }

  @Test func whatWasGrantedDecidesTheCodec() throws {
    let (_, server) = try world()
    let client = try OfferingClient(1, server)
    var grant = SFUGrant()
    grant.settings.videoCodecType = "H264"
    grant.settings.videoBitRate = 900
    let answer = try client.post(OfferTexts.both("sendonly"), to: .publish, grant)
    // The usual mode and profile, though others come first.
    #expect(answer.media[1].codecs.map(\.payloadType) == [103])
    #expect(answer.media[1].codecs[0].parameters["packetization-mode"] == "1")
    #expect(answer.media[1].maximumBitrate == 900_000)
    grant.settings.videoCodecType = "AV1"
    let other = try OfferingClient(2, server)
    #expect(throws: SFUOfferError.self) {
      try other.post(OfferTexts.both("sendonly"), to: .publish, grant)
    }
    // A medium that isn't allowed is rejected, and the other one stays.
    var audioOnly = SFUGrant()
    audioOnly.settings.video = .disabled
    let half = try OfferingClient(3, server).post(
      OfferTexts.both("sendonly"), to: .publish, audioOnly)
    #expect(half.media.map(\.port) == [9, 0])
    #expect(half.bundle == ["0"])
  }

  @Test func aPlayersOfferIsAnsweredWithSourcesForWhateverComes() throws {
    let (_, server) = try world()
    let client = try OfferingClient(1, server)
    let answer = try client.post(OfferTexts.both("recvonly"), to: .play)
    #expect(answer.media.map(\.direction) == [.sendonly, .sendonly])
    #expect(answer.media[0].codecs.map(\.payloadType) == [111, 63, 0])
    #expect(
      answer.media[1].codecs.map(\.payloadType) == [96, 97, 98, 99, 102, 103, 104])
    #expect(answer.media[0].msids.first?.stream == answer.media[1].msids.first?.stream)
    #expect(answer.media[1].sourceGroups.first?.ssrcs.count == 2)
    #expect(client.status?.role == .recvonly)
  }

  @Test func layersAreOrderedByWhatTheOfferSaysOfThem() throws {
    let names: [(String, [String])] = [
      // Sora's and others' names tell; else the first is the best.
      ("a=rid:r0 send\na=rid:r1 send\na=simulcast:send r0;r1\n", ["r0", "r1"]),
      ("a=rid:f send\na=rid:h send\na=rid:q send\na=simulcast:send f;h;q\n", ["q", "h", "f"]),
      ("a=rid:0 send\na=rid:1 send\na=rid:2 send\na=simulcast:send 0;1;2\n", ["2", "1", "0"]),
      (
        "a=rid:x send max-width=320;max-height=180\na=rid:y send max-width=1280;max-height=720\n"
          + "a=simulcast:send x;y\n", ["x", "y"]
      ),
      // One layer is none, and of alternatives the first is sent.
      ("a=rid:0 send\na=simulcast:send 0\n", []),
      ("a=rid:a send\na=rid:b send\na=rid:c send\na=simulcast:send a,b;~c\n", ["c", "a"]),
    ]
    for (index, (lines, expected)) in names.enumerated() {
      let (_, server) = try world()
      let client = try OfferingClient(index + 1, server)
      let answer = try client.post(
        OfferTexts.both("sendonly", more: OfferTexts.simulcast + lines), to: .publish)
      let video = answer.media[1]
      #expect(video.simulcast?.receive.compactMap(\.first?.rid) ?? [] == expected, "\(lines)")
      #expect(video.rids.map(\.id) == expected)
      #expect(video.extensions.contains { $0.id == 13 } == !expected.isEmpty)
    }
  }

  @Test func whatCannotBeAnsweredHasATypedError() throws {
    enum Kind { case malformed, unacceptable }
    let both = OfferTexts.both("sendonly")
    let cases: [(String, Kind, String)] = [
      ("", .malformed, "empty"),
      ("hello", .malformed, "no description"),
      (OfferTexts.head, .unacceptable, "no section"),
      (OfferTexts.both("recvonly"), .unacceptable, "the wrong direction"),
      (OfferTexts.both("inactive"), .unacceptable, "no direction"),
      (
        both.replacing("m=audio 9", with: "m=audio 0").replacing("m=video 9", with: "m=video 0"),
        .unacceptable, "rejected by its maker"
      ),
      (
        both.replacing("opus/48000/2", with: "opus/44100/2").replacing(" 0\n", with: "\n"),
        .unacceptable, "no audio codec"
      ),
      (
        both.replacing("VP8", with: "X8").replacing("VP9", with: "X9")
          .replacing("H264", with: "X264"), .unacceptable, "no video codec"
      ),
      (both.replacing("a=group:BUNDLE 0 1\n", with: ""), .unacceptable, "no bundle"),
      (both.replacing("a=group:BUNDLE 0 1", with: "a=group:BUNDLE 0"), .unacceptable, "half a one"),
      (both.replacing("a=mid:1", with: "a=mid:0"), .malformed, "one mid twice"),
      (both.replacing("a=mid:1\n", with: ""), .unacceptable, "no mid"),
      (both.replacing("a=rtcp-mux\n", with: ""), .unacceptable, "no rtcp-mux"),
      (both.replacing("a=ice-ufrag:UFRAG\n", with: ""), .malformed, "no credentials"),
      (
        both.replacing("a=ice-pwd:PASSWORD", with: "a=ice-pwd:short"), .malformed,
        "a short password"
      ),
      (both.replacing("a=fingerprint:FINGERPRINT\n", with: ""), .malformed, "no fingerprint"),
      (both.replacing("a=setup:actpass", with: "a=setup:holdconn"), .malformed, "no role"),
      (
        OfferTexts.head + "a=group:BUNDLE 0 1 2\n" + OfferTexts.audio("sendonly")
          + OfferTexts.video("sendonly") + OfferTexts.video("sendonly", mid: "2"), .unacceptable,
        "two videos"
      ),
      (
        OfferTexts.both("sendonly", more: "a=simulcast:send x;y\n"), .malformed,
        "rids without lines"
      ),
      (
        OfferTexts.both(
          "sendonly",
          more: "a=rid:1 send\na=rid:2 send\na=rid:3 send\na=rid:4 send\na=rid:5 send\n"
            + "a=simulcast:send 1;2;3;4;5\n"), .unacceptable, "five layers"
      ),
      (
        OfferTexts.head
          + (0..<40).map { OfferTexts.audio("sendonly", mid: "\($0)") }.joined(), .unacceptable,
        "forty sections"
      ),
    ]
    let (_, server) = try world()
    let client = try OfferingClient(1, server)
    for (text, kind, why) in cases {
      do throws(SFUOfferError) {
        _ = try SFUClientOffer(parsing: client.offer(text), to: .publish)
        Issue.record("\(why) was taken")
      } catch {
        switch (error, kind) {
        case (.malformed, .malformed), (.unacceptable, .unacceptable): break
        default: Issue.record("\(why): \(error)")
        }
      }
    }
    #expect(server.core.status.isEmpty)
  }

  /// A browser's data channel is turned down, and media go on.
  @Test func whatIsNoMediumIsRejected() throws {
    let (_, server) = try world()
    let client = try OfferingClient(1, server)
    let data = """
      m=application 9 UDP/DTLS/SCTP webrtc-datachannel
      c=IN IP4 0.0.0.0
      a=mid:2
      a=sctp-port:5000

      """
    let answer = try client.post(OfferTexts.both("sendonly") + data, to: .publish)
    #expect(answer.media.map(\.port) == [9, 9, 0])
    #expect(answer.media[2].proto == "UDP/DTLS/SCTP")
    #expect(answer.bundle == ["0", "1"])
  }

  @Test func limitsAndRefusalsLeaveNothingBehind() throws {
    let network = SimulatedNetwork(seed: 72)
    let server = try TestServer(network) { $0.maximumChannelConnections = 1 }
    try OfferingClient(1, server).post(OfferTexts.both("sendonly"), to: .publish)
    for (channel, number) in [("room", 2), ("", 3), (String(repeating: "x", count: 256), 4)] {
      let client = try OfferingClient(number, server)
      do {
        try client.post(OfferTexts.both("sendonly"), to: .publish, channel: channel)
        Issue.record("\(channel) was taken")
      } catch let error as SFUOfferError {
        guard case .refused(let reason) = error else {
          Issue.record("\(error)")
          continue
        }
        #expect(reason.hasPrefix(channel == "room" ? "CONNECTION-LIMIT" : "INVALID-CHANNEL_ID"))
      }
    }
    #expect(server.core.status.count == 1)
    server.core.drain(to: nil, at: network.now)
    let late = try OfferingClient(5, server)
    #expect(throws: SFUOfferError.draining) {
      try late.post(OfferTexts.both("sendonly"), to: .publish, channel: "other")
    }
  }

  /// Whatever is posted, it is answered or refused, and who is there doesn't notice.
  @Test func mutatedOffersAreAnsweredOrRefused() throws {
    let (network, server) = try world()
    let victim = try OfferingClient(1, server)
    try victim.post(OfferTexts.both("sendonly"), to: .publish, channel: "victim")
    #expect(network.run(until: { victim.status?.isConnected == true }, within: .seconds(5)))
    let random = RandomSource(seed: 9)
    let seeds = [
      victim.offer(OfferTexts.both("sendonly", more: OfferTexts.obsLayers)),
      victim.offer(OfferTexts.both("recvonly")),
    ].map { Array($0.utf8) }
    var counts = [0, 0]
    for round in 0..<1_000 {
      var bytes = seeds[round % 2]
      for _ in 0...(random.next() % 4) {
        let index = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 4 {
        case 0: bytes[index] = UInt8(32 + random.next() % 95)
        case 1: bytes.removeSubrange(index..<min(bytes.count, index + Int(random.next() % 40)))
        case 2: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 60)], at: index)
        default: bytes[index] = UInt8(ascii: "9")
        }
      }
      do throws(SFUOfferError) {
        let offer = try SFUClientOffer(
          parsing: String(decoding: bytes, as: UTF8.self), to: round % 2 == 0 ? .publish : .play)
        let applicant = try server.core.open(
          offer.connect(channelID: "c\(round % 7)", accessToken: nil, client: nil),
          at: network.now)
        let made = try server.core.answer(offer, of: applicant, SFUGrant(), at: network.now)
        #expect(throws: Never.self) { try SessionDescription(parsing: made.sdp).validate() }
        server.core.leave(connectionID: made.connectionID, reason: "TEST", at: network.now)
        counts[0] += 1
      } catch {
        counts[1] += 1
      }
    }
    network.deadlinesChanged()
    network.run(for: .seconds(1))
    #expect(counts[0] > 100 && counts[1] > 100, "\(counts)")
    #expect(server.core.status.map(\.channelID) == ["victim"])
    #expect(victim.status?.isConnected == true)
  }
}
