import SoraMedia
import SoraServer
import SoraSignaling
import SoraTransport
import Testing

/// What the HTTP API tells of connections that carry media.
@Suite(.timeLimit(.minutes(2))) struct StatisticsAPITests {
  private let connection = "Sora_20170529.GetStatsConnection"

  private func names(_ client: ListeningClient, _ channel: String = "room") -> String {
    #"{"channel_id":"\#(channel)","connection_id":"\#(client.connectionID)"}"#
  }

  private func track(_ kind: String, _ json: JSONValue?) -> JSONValue? {
    json?["tracks"]?.arrayValue?.first { $0["kind"]?.stringValue == kind }
  }

  @Test func aPublisherOfLayersIsCountedLayerByLayer() async throws {
    try await servingAPI { server, api, loop in
      let publisher = try await ListeningClient(server.url, on: loop)
      try await publisher.join("sendonly", "room", #""simulcast":true,"client_id":"robot""#)
      let viewer = try await ListeningClient(server.url, on: loop)
      try await viewer.join("recvonly", "room", #""simulcast_request_rid":"r1""#)
      let wanted: JSONValue = [
        ["sender_connection_id": .string(publisher.connectionID), "rid": "r1"]
      ]
      let body = names(viewer)
      #expect(
        await waits {
          (try? await api.post(connection, body))?.json?["simulcast_rids"] == wanted
        })
      #expect(await waits { await viewer.received(.video, of: publisher) > 5 })
      // What probes repeat is received by the viewer, and counted once of the publisher: its own counts are waited for.
      let publishing = names(publisher)
      #expect(
        await waits {
          guard let told = try? await api.post(connection, publishing).json else { return false }
          let layers = track("video", told)?["layers"]?.arrayValue ?? []
          return ([track("audio", told)] + layers).allSatisfy {
            $0?["packets"]?.intValue ?? 0 > 5
          }
        })
      let found = try #require(try await api.post(connection, publishing).json)
      for (key, value) in [
        "channel_id": "room", "client_id": "robot", "role": "sendonly", "connected": true,
        "audio": true, "video": true, "spotlight": false, "simulcast_rids": [],
      ] as [String: JSONValue] {
        #expect(found[key] == value, "\(key)")
      }
      let audio = try #require(track("audio", found))
      let audioPackets = try #require(audio["packets"]?.intValue)
      #expect(audio["codec"] == "opus" && audioPackets > 5)
      #expect(audio["bytes"]?.intValue == audioPackets * ListeningMedia.audioSize)
      #expect(audio["layers"] == [] && audio["subscribers"] == 1)
      let video = try #require(track("video", found))
      #expect(video["codec"] == "VP8" && video["subscribers"] == 1)
      #expect(video["packets_lost"] == 0 && video["nacks"] == 0)
      let layers = video["layers"]?.arrayValue ?? []
      #expect(layers.map { $0["rid"] } == ["r0", "r1", "r2"])
      var sums = (packets: 0, bytes: 0)
      for (layer, size) in zip(layers, ListeningMedia.videoSizes) {
        let packets = try #require(layer["packets"]?.intValue)
        #expect(packets > 5 && layer["bytes"]?.intValue == packets * size)
        #expect(layer["flowing"] == true)
        sums = (sums.packets + packets, sums.bytes + packets * size)
      }
      #expect(video["packets"]?.intValue == sums.packets)
      #expect(video["bytes"]?.intValue == sums.bytes)
      // With headers, and what else goes over the wire.
      let received = try #require(found["total_received_bytes"]?.intValue)
      #expect(received > sums.bytes + audioPackets * ListeningMedia.audioSize)
      #expect(found["total_sent_bytes"]?.intValue ?? 0 > 0)

      let watching = try #require(try await api.post(connection, names(viewer)).json)
      #expect(watching["tracks"] == [] && watching["role"] == "recvonly")
      let least = await viewer.received(.video, of: publisher) * ListeningMedia.videoSizes[1]
      #expect(least > 0)
      #expect(
        try await api.post(connection, names(viewer)).json?["total_sent_bytes"]?.intValue ?? 0
          > least)
      await publisher.finish()
      await viewer.finish()
    }
  }

  /// Of each layer, also where nobody is sent it.
  @Test(arguments: [false, true])
  func aKeyFrameThatIsAskedForIsCounted(simulcast: Bool) async throws {
    try await servingAPI { server, api, loop in
      let publisher = try await ListeningClient(server.url, on: loop)
      try await publisher.join("sendonly", "room", #""simulcast":\#(simulcast)"#)
      let body = names(publisher)
      @Sendable func video() async throws -> JSONValue? {
        try await track("video", api.post(connection, body).json)
      }
      let layers = simulcast ? 3 : 0
      #expect(
        await waits {
          guard let video = try? await video(), video["packets"]?.intValue ?? 0 > 0 else {
            return false
          }
          return video["layers"]?.arrayValue?.filter { $0["flowing"] == true }.count == layers
        })
      #expect(try await video()?["key_frame_requests"] == 0)
      let asked = try await api.post("Sora_20241218.RequestKeyFrame", body)
      #expect(asked.status == 200)
      #expect(asked.json?["connection_id"]?.stringValue == publisher.connectionID)
      let expected = JSONValue.integer(Int64(max(1, layers)))
      #expect(await waits { (try? await video())?["key_frame_requests"] == expected })
      let each = try await video()?["layers"]?.arrayValue?.map { $0["key_frame_requests"] }
      #expect(each == [JSONValue?](repeating: 1, count: layers))
      await publisher.finish()
    }
  }

  @Test func allConnectionsOfAClientAndOfTheServerAreTold() async throws {
    try await servingAPI { server, api, loop in
      var all: [ListeningClient] = []
      for (role, channel, client) in [
        ("sendonly", "room", "robot"), ("recvonly", "room", "robot"), ("recvonly", "room", "eve"),
        ("sendonly", "other", "robot"),
      ] {
        let one = try await ListeningClient(server.url, on: loop)
        all.append(one)
        try await one.join(role, channel, #""client_id":"\#(client)""#)
      }
      func told(_ target: String, _ body: String) async throws -> [JSONValue] {
        let answer = try await api.post(target, body)
        #expect(answer.status == 200, "\(answer.body)")
        return answer.json?.arrayValue ?? []
      }
      let ids = all.map { JSONValue.string($0.connectionID) }
      let one = try await told(
        "Sora_20170529.GetStatsClient", #"{"channel_id":"room","client_id":"robot"}"#)
      #expect(one.map { $0["connection_id"] } == [ids[0], ids[1]])
      #expect(one.map { $0["tracks"]?.arrayValue?.count } == [2, 0])
      for body in ["", "{}"] {
        let every = try await told("Sora_20171101.GetStatsAllConnections", body)
        #expect(every.map { $0["connection_id"] } == ids)
        #expect(every.map { $0["channel_id"] } == ["room", "room", "room", "other"])
        #expect(every.allSatisfy { $0["total_received_bytes"]?.intValue ?? 0 > 0 })
      }
      let nobody = try await api.post(
        "Sora_20170529.GetStatsClient", #"{"channel_id":"other","client_id":"eve"}"#)
      #expect(nobody.status == 404 && nobody.errorType == "CLIENT-NOT-FOUND")
      for one in all { await one.finish() }
    }
  }

  /// What a client says on its data channel `stats` is what is told of it.
  @Test func reportsComeOverTheDataChannel() async throws {
    try await servingAPI { server, api, loop in
      let client = try await ListeningClient(server.url, on: loop)
      try await client.join(
        "sendonly", "room", #""client_id":"robot""#, dataChannels: true)
      #expect(await waits { client.messages.contains { $0["type"] == "switched" } })
      let get = "Sora_20211215.GetRtcStats"
      let body = names(client)
      #expect(try await api.post(get, body).errorType == "RTC-STATS-NOT-FOUND")
      let report = #"{"id":"O1","type":"outbound-rtp","timestamp":1700000000000.5,"ssrc":7}"#
      let message = #"{"type":"stats","reports":[\#(report)]}"#
      #expect(await client.say(message, on: "stats"))
      let expected = try JSONValue(parsing: "[\(report)]")
      #expect(await waits { (try? await api.post(get, body))?.json?["rtc_stats"] == expected })
      let found = try await api.post(get, body).json
      #expect(found?["client_id"] == "robot" && found?["channel_id"] == "room")
      #expect(found?["timestamp"]?.stringValue?.hasSuffix("Z") == true)
      // The next ones take their place, and what can't be read ends who says it.
      #expect(await client.say(#"{"type":"stats","reports":[]}"#, on: "stats"))
      #expect(await waits { (try? await api.post(get, body))?.json?["rtc_stats"] == [] })
      #expect(await client.say(#"{"type":"stats","reports":{}}"#, on: "stats"))
      #expect(await waits { client.close != nil })
      #expect(client.close?.code == .signalingError)
      #expect(client.close?.reason.hasPrefix("INVALID-MESSAGE") == true)
      await client.finish()
    }
  }
}
