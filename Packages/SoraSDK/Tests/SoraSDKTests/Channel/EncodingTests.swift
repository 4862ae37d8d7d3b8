import SoraClock
import SoraMedia
import SoraSDK
import SoraSignaling
import Testing
import WebRTC

/// The layers that an offer asks for, down to what the encoders make of them.
@Suite(.timeLimit(.minutes(2))) struct EncodingTests {
  /// Takes part in a call as Sora does: its offers want layers, which a peer connection's own offer doesn't.
  private struct Server {
    let far: FarEnd
    let sora: ScriptedSora
    let connections: Recorder<WebSocketConnection>

    init(rids: [String], encodings: [SignalingEncoding]) async throws {
      let far = try await FarEnd(receives: true)
      let connections = Recorder<WebSocketConnection>()
      sora = try await ScriptedSora { connection, message in
        if case .connect = message {
          connections.append(connection)
          connection.send(
            far.offer {
              $0.sdp = Server.wanting(rids, in: $0.sdp)
              $0.simulcast = true
              $0.encodings = encodings
            })
        }
        try await far.handle(message)
      }
      self.far = far
      self.connections = connections
    }

    /// Asks for layers in the section that takes the client's video, in which we receive.
    static func wanting(_ rids: [String], in sdp: String) -> String {
      let layers =
        rids.map { "a=rid:\($0) recv\r\n" }.joined()
        + "a=simulcast:recv \(rids.joined(separator: ";"))\r\n"
      guard let video = sdp.firstRange(of: "m=video"),
        let direction = sdp[video.upperBound...].firstRange(of: "a=recvonly\r\n")
      else { return sdp }
      var result = sdp
      result.insert(contentsOf: layers, at: direction.upperBound)
      return result
    }

    /// The last answer's line on simulcast.
    var simulcast: String? {
      let answers = sora.received.elements.compactMap { message in
        switch message {
        case .answer(let answer): answer.sdp
        case .reAnswer(let answer): answer.sdp
        default: nil
        }
      }
      return answers.last?.split(whereSeparator: \.isNewline)
        .first { $0.hasPrefix("a=simulcast:") }.map(String.init)
    }
  }

  /// What an encoder does for one layer.
  private struct Layer: CustomStringConvertible {
    var width: Double
    var target: Double
    var rate: Double
    var mode: String?
    var isActive: Bool
    var frames: Double

    init(_ statistics: RTCStatistics) {
      width = statistics.number("frameWidth") ?? 0
      target = statistics.number("targetBitrate") ?? 0
      rate = statistics.number("framesPerSecond") ?? 0
      mode = statistics.text("scalabilityMode")
      isActive = statistics.values["active"] == .boolean(true)
      frames = statistics.number("framesEncoded") ?? 0
    }

    var description: String {
      "\(width) px, \(target) bit/s, \(rate) frames/s, \(mode ?? "-"), active \(isActive), \(frames) frames"
    }
  }

  private func layers(_ peer: RTCPeerConnection) async -> [String: Layer] {
    let all = await peer.statistics().all("outbound-rtp").compactMap { statistics in
      statistics.text("rid").map { ($0, Layer(statistics)) }
    }
    return Dictionary(all, uniquingKeysWith: { first, _ in first })
  }

  /// The layers, once they are as a test wants them; the test's time limit ends the wait.
  private func layers(
    _ peer: RTCPeerConnection, where condition: ([String: Layer]) -> Bool
  ) async throws -> [String: Layer] {
    while true {
      let layers = await layers(peer)
      if condition(layers) { return layers }
      do {
        try await Task.sleep(for: .milliseconds(20))
      } catch {
        Issue.record("the layers stayed \(layers)")
        throw error
      }
    }
  }

  private func feed(_ stream: any MediaStream) -> Task<Void, any Error> {
    Task {
      while !Task.isCancelled {
        let buffer = PixelBuffer(width: 320, height: 180, format: .i420) { _ in }
        stream.send(videoFrame: .init(from: buffer))
        try await Task.sleep(for: .milliseconds(33))
      }
    }
  }

  private static let encodings: [SignalingEncoding] = [
    SignalingEncoding {
      $0.rid = "r0"
      $0.maxBitrate = 60_000
      $0.maxFramerate = 10
      $0.scaleResolutionDownBy = 4
    },
    SignalingEncoding {
      $0.rid = "r1"
      $0.active = false
      $0.maxBitrate = 90_000
      $0.scaleResolutionDownBy = 2
    },
    SignalingEncoding {
      $0.rid = "r2"
      $0.maxBitrate = 150_000
      $0.scaleResolutionDownTo = EncodingResolution(maxWidth: 240, maxHeight: 240)
      $0.scalabilityMode = "L1T2"
    },
  ]

  /// Whether the two layers that the offers want are sent as they say.
  private func isAsOffered(_ layers: [String: Layer], limit: Double) -> Bool {
    guard let low = layers["r0"], let high = layers["r2"] else { return false }
    return low.isActive && low.width == 80 && (1...60_000).contains(low.target) && low.frames > 20
      && (5...12).contains(low.rate)
      && high.isActive && high.width == 240 && (1...limit).contains(high.target)
      && high.frames > 20
  }

  @Test func theyReachTheEncoders() async throws {
    let server = try await Server(rids: ["r0", "r1", "r2"], encodings: Self.encodings)
    let attempt = Attempt(server.sora.configuration(), face: .tasks)
    let channel = try await attempt.channel()
    #expect(server.simulcast == "a=simulcast:send r0;~r1;r2")
    let peer = try #require(channel.native)
    let feeder = try feed(#require(channel.senderStream))
    defer { feeder.cancel() }
    let sent = try await layers(peer) { isAsOffered($0, limit: 150_000) }
    #expect(sent["r2"]?.mode == "L1T2" && sent["r0"]?.mode == "L1T3")
    #expect(sent["r1"]?.isActive == false && sent["r1"]?.frames == 0)
    await channel.disconnect()
  }

  /// Why each layer is off, and that an app can change it through the channel.
  @Test func whyTheyAreOff() async throws {
    let server = try await Server(rids: ["r0", "r1", "r2"], encodings: Self.encodings)
    let attempt = Attempt(server.sora.configuration(), face: .tasks)
    let channel = try await attempt.channel()
    let feeder = try feed(#require(channel.senderStream))
    defer { feeder.cancel() }
    func wait(for wanted: [String?: RTCSendBandwidth.LayerOff]) async {
      for await bandwidth in channel.sendBandwidth {
        let layers = bandwidth.tracks.first { $0.kind == .video }?.layers ?? []
        guard layers.count == 3 else { continue }
        let off = Dictionary(
          layers.compactMap { layer in layer.off.map { (layer.rid, $0) } },
          uniquingKeysWith: { first, _ in first })
        if off == wanted { return }
      }
      Issue.record("the channel ended")
    }
    await wait(for: ["r1": .inactive])
    var encodings = channel.videoEncodings
    #expect(encodings.map(\.rid) == ["r0", "r1", "r2"])
    encodings[1].isActive = true
    encodings[2].isActive = false
    // One that there isn't changes nothing.
    encodings.append(RTCRtpEncodingParameters(rid: "r7"))
    channel.videoEncodings = encodings
    await wait(for: ["r2": .inactive])
    #expect(channel.videoEncodings.map(\.rid) == ["r0", "r1", "r2"])
    // More than the path is estimated to take, of the highest: it is off for want of it.
    encodings[2].isActive = true
    encodings[2].minBitrateBps = 500_000_000
    encodings[2].maxBitrateBps = 500_000_000
    channel.videoEncodings = encodings
    await wait(for: ["r2": .bandwidth])
    await channel.disconnect()
    #expect(channel.videoEncodings.isEmpty)
  }

  /// A layer that a later offer adds is sent as the first offer's encodings say, and what the app has changed of the others stays.
  @Test func theyAreInForceForLaterOffers() async throws {
    let server = try await Server(rids: ["r0", "r2"], encodings: Self.encodings)
    let attempt = Attempt(server.sora.configuration(.sendrecv), face: .tasks)
    let channel = try await attempt.channel()
    let peer = try #require(channel.native)
    let feeder = try feed(#require(channel.senderStream))
    defer { feeder.cancel() }
    _ = try await layers(peer) { isAsOffered($0, limit: 150_000) && $0["r1"] == nil }

    let sender = try #require(peer.senders.first { $0.track is RTCVideoTrack })
    #expect(sender.parameters.encodings.map(\.rid) == ["r0", "r2"])
    sender.parameters.encodings[1].maxBitrateBps = 100_000
    _ = try await layers(peer) { isAsOffered($0, limit: 100_000) }

    guard case .reOffer(var again) = try await server.far.reOffer(stream: "other") else { return }
    again.sdp = Server.wanting(["r0", "r1", "r2"], in: again.sdp)
    try #require(server.connections.elements.first).send(.reOffer(again))
    await server.far.handled.wait { $0.contains("re-answer") }
    #expect(server.simulcast == "a=simulcast:send r0;~r1;r2")
    #expect(sender.parameters.encodings.map(\.rid) == ["r0", "r1", "r2"])
    #expect(sender.parameters.encodings.map(\.isActive) == [true, false, true])
    let frames = await layers(peer)["r2"]?.frames ?? 0
    let sent = try await layers(peer) {
      isAsOffered($0, limit: 100_000) && ($0["r2"]?.frames ?? 0) != frames
    }
    #expect(sent["r1"]?.isActive == false && sent["r1"]?.frames == 0)

    // What is paused by us needs no description to go on.
    sender.parameters.encodings[1].isActive = true
    let all = try await layers(peer) {
      isAsOffered($0, limit: 100_000) && ($0["r1"]?.frames ?? 0) > 5
    }
    #expect(all["r1"]?.width == 160)
    #expect((1...90_000).contains(all["r1"]?.target ?? 0))
    await channel.disconnect()
  }
}
