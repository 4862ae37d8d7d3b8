import Foundation
import SoraClock
import SoraMedia
import SoraSDK
import SoraSignaling
import SoraTransport
import Synchronization
import Testing
import WebRTC

/// Whole calls with a peer connection in Sora's place.
@Suite(.timeLimit(.minutes(5))) struct CallTests {
  /// A server that answers `connect` with an offer, and takes part in what follows.
  private func server(
    _ far: FarEnd, offer change: @escaping @Sendable (inout OfferMessage) -> Void = { _ in },
    then script: @escaping ScriptedSora.Script = { _, _ in }
  ) async throws -> (ScriptedSora, Recorder<WebSocketConnection>) {
    let connections = Recorder<WebSocketConnection>()
    let server = try await ScriptedSora { connection, message in
      if case .connect = message {
        connections.append(connection)
        connection.send(far.offer(change))
      }
      try await far.handle(message)
      try await script(connection, message)
    }
    return (server, connections)
  }

  @Test(arguments: Face.allCases) func sender(_ face: Face) async throws {
    let far = try await FarEnd(receives: true)
    let (server, _) = try await server(far)
    let attempt = Attempt(server.configuration(), face: face)
    let channel = try await attempt.channel()
    #expect(channel.state == .connected && channel.isAvailable)
    #expect(channel.connectStage == .connected)
    #expect(attempt.sora.mediaChannels == [channel])
    #expect(channel.clientId == "CLIENT" && channel.bundleId == "BUNDLE")
    #expect(channel.connectionId == "CONNECTION")
    #expect(channel.contactUrl?.absoluteString == server.url)
    #expect(channel.connectedUrl?.absoluteString == server.url)
    let stream = try #require(channel.senderStream)
    #expect(stream.streamId == "mainStream" && stream === channel.mainStream)
    #expect(stream.mediaChannel == channel)
    #expect(stream.videoEnabled && stream.audioEnabled)
    #expect(channel.receiverStreams.isEmpty)
    let native = try #require(channel.native)
    #expect(native.senders.compactMap(\.track?.trackId).sorted() == ["mainAudio", "mainVideo"])
    #expect(native.localDescription?.sdp.contains("mainStream") == true)
    #expect(await channel.statistics().entries.isEmpty == false)
    let connect = try #require(server.connects().first)
    #expect(connect.sdp?.contains("VP8") == true && connect.multistream == true)
    #expect(connect.audio == nil && connect.video == nil && connect.redirect == nil)

    await channel.disconnect()
    #expect(channel.state == .disconnected && channel.streams.isEmpty && channel.native == nil)
    #expect(attempt.sora.mediaChannels.isEmpty)
    await server.wait(for: "disconnect")
    await server.closed.wait(for: 1)
    #expect(
      await attempt.story()
        == ["add"] + (face == .handlers ? ["handler channel, nil"] : []) + [
          "sora.connect channel, nil", "channel.connect nil", "remove", "sora.disconnect nil",
          "channel.disconnect nil",
        ])
    let told = attempt.log.elements
    let added = try #require(told.firstIndex(of: "stream+ mainStream"))
    let connected = try #require(told.firstIndex(of: "channel.connect nil"))
    #expect(added < connected)
    #expect(await channel.statistics().entries.isEmpty)
  }

  @Test func pictureAndSoundArrive() async throws {
    let begun = SystemClock.now
    let far = try await FarEnd(receives: true)
    let (server, _) = try await server(far)
    let attempt = Attempt(server.configuration(), face: .tasks)
    let channel = try await attempt.channel()
    let sink = PictureSink()
    let receiver = try #require(far.peer.receivers.compactMap { $0.track as? RTCVideoTrack }.first)
    receiver.add(sink: sink)
    let stream = try #require(channel.senderStream)
    stream.videoFilter = CountingFilter.shared
    let feeder = Task {
      while !Task.isCancelled {
        let buffer = PixelBuffer(width: 160, height: 90, format: .i420) { _ in }
        stream.send(videoFrame: .init(from: buffer))
        try await Task.sleep(for: .milliseconds(33))
      }
    }
    await sink.sizes.wait(for: 3)
    feeder.cancel()
    #expect(sink.sizes.elements.first == "160x90")
    #expect(CountingFilter.shared.count.withLock { $0 } >= 3)
    let timeline = await channel.connectionTimeline()
    #expect(timeline.spans.map(\.phase) == ConnectionTimeline.Phase.allCases)
    #expect(timeline.spans.allSatisfy { $0.duration >= .zero })
    #expect(timeline.spans.reduce(Duration.zero) { $0 + $1.duration } == timeline.total)
    #expect(timeline.total > .zero && timeline.total < SystemClock.now - begun)
    print(
      "a call on one host:", timeline.spans.map { "\($0.phase) \($0.duration.inMilliseconds) ms" })
    let entry = try #require(await channel.statistics().entries.first { $0.type == "transport" })
    let durations = try #require(entry.values["connectDurations"] as? [String: NSNumber])
    #expect(durations["dtls"]?.doubleValue == timeline[.dtls]?.inSeconds)
    await channel.disconnect()
    let own = await channel.connectionTimeline()
    #expect(own.spans.map(\.phase) == [.webSocket, .offer], "the rest was the peer connection's")
  }

  @Test(
    .enabled(if: dlopen("libSDL2-2.0.so.0", RTLD_LAZY) != nil, "needs Debian's libsdl2-2.0-0"))
  func aViewShowsAStreamUntilItsChannelEnds() async throws {
    let far = try await FarEnd(receives: true)
    let (server, _) = try await server(far)
    let attempt = Attempt(server.configuration(), face: .tasks)
    let channel = try await attempt.channel()
    let stream = try #require(channel.senderStream)
    let view = VideoView(frame: CGRect(x: 0, y: 0, width: 64, height: 36), place: .memory)
    stream.videoRenderer = view
    #expect(view.isRendering)
    let white = PixelBuffer(width: 64, height: 36) { planes in
      for (index, plane) in planes.enumerated() {
        for y in 0..<plane.height {
          for x in 0..<plane.width { plane.row(y)[x] = index == 0 ? 235 : 128 }
        }
      }
    }
    while try view.image()[32, 18] != [255, 255, 255] {
      stream.send(videoFrame: VideoFrame(from: white))
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(view.currentVideoFrameSize == CGSize(width: 64, height: 36))
    await channel.disconnect()
    while try view.isRendering || view.image()[32, 18] != [0, 0, 0] {
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Streams of others come and go by re-offers; the own one, sent back, isn't shown.
  @Test(arguments: Face.allCases) func streamsOfOthers(_ face: Face) async throws {
    let far = try await FarEnd(receives: true)
    let (server, connections) = try await server(far)
    let attempt = Attempt(server.configuration(.sendrecv), face: face)
    let channel = try await attempt.channel()
    let events = Recorder<String>()
    let reader = Task {
      for await event in channel.events { events.append(CallTests.text(event)) }
      events.append("finished")
    }
    let connection = try #require(connections.elements.first)
    await events.wait { $0.contains("stream+ mainStream") }
    connection.send(try await far.reOffer(stream: "OTHER"))
    await far.handled.wait { $0.count { $0 == "re-answer" } == 1 }
    connection.send(try await far.reOffer(stream: "CONNECTION"))
    await far.handled.wait { $0.count { $0 == "re-answer" } == 2 }
    await attempt.log.wait { $0.count { $0 == "signaling re-offer" } == 2 }
    #expect(channel.receiverStreams.map(\.streamId) == ["OTHER"])
    let other = try #require(channel.receiverStreams.first)
    #expect(other.videoEnabled)
    #expect(channel.streams.count == 2)
    let removed = try #require(
      far.peer.transceivers.first { $0.sender.streamIds == ["OTHER"] })
    removed.setDirection(.inactive)
    try await far.peer.setLocalDescription(far.peer.offer())
    connection.send(.reOffer(ReOfferMessage(sdp: far.sdp)))
    await attempt.log.wait { $0.contains("stream- OTHER") }
    #expect(channel.receiverStreams.isEmpty)
    await channel.disconnect()
    await reader.value
    let told = events.elements.filter { !$0.hasPrefix("signaling") }
    #expect(
      told == [
        "stream+ mainStream", "connected", "stream+ OTHER", "stream- OTHER", "disconnected nil",
        "finished",
      ])
    #expect(!attempt.log.elements.contains("stream+ CONNECTION"))
  }

  @Test(arguments: Face.allCases) func messagesAndCounters(_ face: Face) async throws {
    let far = try await FarEnd(receives: false)
    let (server, connections) = try await server(far)
    var configuration = server.configuration(.recvonly)
    let raw = Recorder<String>()
    configuration.webSocketChannelHandlers.onReceive = {
      if case .text(let text) = $0 { raw.append(text) }
    }
    configuration.signalingConnectMetadata = ["access_token": "secret"]
    let attempt = Attempt(configuration, face: face)
    let channel = try await attempt.channel()
    #expect(server.connects().first?.sdp == nil)
    #expect(server.connects().first?.metadata == ["access_token": "secret"])
    #expect(channel.senderStream == nil)
    let events = Recorder<MediaChannelEvent>()
    let reader = Task { for await event in channel.events { events.append(event) } }
    let connection = try #require(connections.elements.first)

    var partial = NotifyMessage(eventType: "connection.created")
    partial.channelConnections = 9
    connection.send(.notify(partial))
    var full = partial
    full.channelConnections = 6
    full.channelSendonlyConnections = 1
    full.channelRecvonlyConnections = 2
    full.channelSendrecvConnections = 3
    full.metadata = ["name": "Ada"]
    connection.send(.push(PushMessage(data: ["x": 1])))
    await attempt.log.wait { $0.contains("signaling push") }
    #expect(channel.connectionCount == nil)
    connection.send(.notify(full))
    connection.send(.switched(SwitchedMessage(ignoreDisconnectWebSocket: false)))
    connection.send(.ping(PingMessage(statisticsEnabled: true)))
    await attempt.log.wait { $0.contains("signaling ping") }
    #expect(channel.connectionCount == 6)
    #expect(channel.publisherCount == 4)
    #expect(channel.subscriberCount == 5)
    await server.wait(for: "pong")
    guard case .pong(let pong)? = server.received.elements.first(where: { $0.typeName == "pong" })
    else { throw AnotherError() }
    #expect(pong.statistics?.isEmpty == false)
    #expect(raw.elements.contains { $0.contains("switched") })
    await channel.disconnect()
    await reader.value
    let names = events.elements.compactMap { event -> String? in
      switch event {
      case .notify(let notify):
        (notify.metadata as? [String: Any])?["name"] as? String ?? "notify"
      case .push(let push): (push.data as? [String: Any])?["x"].map { "push \($0)" }
      default: nil
      }
    }
    #expect(names == ["notify", "push 1", "Ada"])
  }

  @Test(arguments: [1000, 1001, 4490]) func serverCloses(_ code: Int) async throws {
    let far = try await FarEnd(receives: false)
    let (server, connections) = try await server(far)
    let attempt = Attempt(server.configuration(.recvonly), face: .handlers)
    let channel = try await attempt.channel()
    let errors = Recorder<String>()
    let reader = Task {
      for await event in channel.events {
        if case .disconnected(let error) = event {
          errors.append(error.map { "\($0)" } ?? "nil")
        }
      }
    }
    connections.elements.first?.close(
      code: WebSocketCloseCode(rawValue: UInt16(code)), reason: "WHY")
    await attempt.log.wait { $0.contains { $0.hasPrefix("channel.disconnect") } }
    await reader.value
    let expected =
      code == 1000
      ? "nil"
      : "\(SoraError.webSocketClosed(statusCode: WebSocketStatusCode(rawValue: code), reason: "WHY"))"
    #expect(errors.elements == [expected])
    #expect(attempt.log.elements.count { $0.hasPrefix("channel.disconnect") } == 1)
    #expect((channel.failureReason == nil) == (code == 1000))
    #expect(channel.native == nil)
    // Somebody who comes later hears how it ended.
    var late: [String] = []
    for await event in channel.events { late.append(Self.text(event)) }
    #expect(late.count == 1)
  }

  @Test(arguments: Face.allCases) func wrongFingerprint(_ face: Face) async throws {
    let far = try await FarEnd(receives: true)
    let (server, _) = try await server(
      far,
      offer: {
        $0.sdp =
          $0.sdp.split(separator: "\r\n").map { line in
            guard line.hasPrefix("a=fingerprint:sha-256 ") else { return String(line) }
            return "a=fingerprint:sha-256 "
              + Array(repeating: "AB", count: 32).joined(separator: ":")
          }.joined(separator: "\r\n") + "\r\n"
      })
    let attempt = Attempt(server.configuration(), face: face)
    guard case .peerChannelError(let reason) = try await attempt.error() else {
      throw AnotherError()
    }
    #expect(reason.hasPrefix("DTLS: "))
    _ = await attempt.story()
    #expect(attempt.log.elements.count { $0.hasPrefix("channel.connect") } == 1)
  }

  /// The server takes its time to close: the app waits a second and no more.
  @Test func serverThatNeverCloses() async throws {
    let far = try await FarEnd(receives: false)
    let connections = Recorder<WebSocketConnection>()
    let server = try await SignalingServer.start { connection in
      connections.append(connection)
      Task {
        for await event in connection.messages {
          guard case .text(let text) = event, let message = try? SignalingMessage(parsing: text)
          else { continue }
          if case .connect = message { connection.send(far.offer()) }
          try await far.handle(message)
        }
      }
    }
    let url = try #require(URL(string: "ws://127.0.0.1:\(server.boundPort)/signaling"))
    let attempt = Attempt(
      Configuration(url: url, channelId: "test", role: .recvonly), face: .handlers)
    let channel = try await attempt.channel()
    let mine = SoraError.messagingError(reason: "mine")
    channel.disconnect(error: mine)
    #expect(channel.state == .disconnecting)
    channel.disconnect(error: nil)
    await attempt.log.wait { $0.contains("channel.disconnect messagingError") }
    #expect(attempt.log.elements.count { $0.hasPrefix("sora.disconnect") } == 1)
    #expect(channel.state == .disconnected)
  }

  /// Without data channels there is nothing to send on, and the answer says so.
  @Test func messaging() async throws {
    let far = try await FarEnd(receives: false)
    let (server, _) = try await server(far)
    let channel = try await Attempt(server.configuration(.recvonly), face: .tasks).channel()
    guard
      case .messagingError(let reason)? = channel.sendMessage(label: "#chat", data: Data())
        as? SoraError
    else { throw AnotherError() }
    #expect(reason.contains("dataChannelSignaling"))
    await #expect(throws: SoraError.self) { try await channel.ready(label: "#chat") }
    await channel.disconnect()
  }

  static func text(_ event: MediaChannelEvent) -> String {
    switch event {
    case .connected: "connected"
    case .streamAdded(let stream): "stream+ \(stream.streamId)"
    case .streamRemoved(let stream): "stream- \(stream.streamId)"
    case .notify: "signaling notify"
    case .push: "signaling push"
    case .dataChannelsOpened: "data channels"
    case .message(let message): "message \(message.label)"
    case .signaling(let message): "signaling \(message.typeName())"
    case .disconnected(let error): "disconnected \(Attempt.text(error))"
    }
  }
}

/// Notes the sizes of received pictures.
final class PictureSink: VideoSink {
  let sizes = Recorder<String>()
  func receive(_ frame: RawVideoFrame) { sizes.append("\(frame.width)x\(frame.height)") }
}

/// Lets frames pass and counts them.
final class CountingFilter: VideoFilter {
  static let shared = CountingFilter()
  let count = Mutex(0)
  func filter(videoFrame: VideoFrame) -> VideoFrame {
    count.withLock { $0 += 1 }
    return videoFrame
  }
}
