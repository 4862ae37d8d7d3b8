import Foundation
import SignalingTestSupport
import SoraSDK
import SoraSignaling
import Testing
import WebRTC

/// Each failure ends in one error, told once on each way, in the same order whichever face was used.
@Suite(.timeLimit(.minutes(5))) struct ConnectFailureTests {
  /// What is told of a failed attempt, with the error's case as a word.
  private func story(_ word: String, _ face: Face) -> [String] {
    ["add"] + (face == .handlers ? ["handler \(word)"] : []) + [
      "sora.connect \(word)", "channel.connect \(word)", "remove", "sora.disconnect \(word)",
      "channel.disconnect \(word)",
    ]
  }

  private func check(_ attempt: Attempt, _ word: String, _ face: Face) async throws {
    #expect(await attempt.story() == story(word, face))
    let channel = try #require(attempt.channels.elements.first)
    #expect(channel.state == .disconnected)
    #expect(channel.streams.isEmpty && channel.native == nil && channel.contactUrl == nil)
    #expect(attempt.sora.mediaChannels.isEmpty)
  }

  private func peerReason(_ attempt: Attempt) async throws -> String {
    guard case .peerChannelError(let reason) = try await attempt.error() else {
      Issue.record("not a peerChannelError")
      return ""
    }
    return reason
  }

  @Test(arguments: Face.allCases) func offerWithoutMid(_ face: Face) async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora { connection, message in
      if case .connect = message { connection.send(far.offer { $0.mid = nil }) }
    }
    let attempt = Attempt(server.configuration(), face: face)
    #expect(try await peerReason(attempt).hasPrefix("mid not found"))
    try await check(attempt, "peerChannelError", face)
  }

  @Test(arguments: Face.allCases) func offerWithUnknownMid(_ face: Face) async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora { connection, message in
      guard case .connect = message else { return }
      connection.send(
        far.offer {
          $0.mid = ["audio": far.mids["audio"] ?? "", "video": "nowhere"]
        })
    }
    let attempt = Attempt(server.configuration(), face: face)
    #expect(try await peerReason(attempt).hasPrefix("transceiver for video not found"))
    try await check(attempt, "peerChannelError", face)
  }

  @Test(arguments: Face.allCases) func noCommonCodec(_ face: Face) async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora { connection, message in
      guard case .connect = message else { return }
      connection.send(
        far.offer {
          $0.sdp = $0.sdp.replacing(#/(VP8|VP9|AV1|H264|H265)/90000/#, with: "XYZ/90000")
            .replacing(#/(opus|red)/48000|PCM[UA]/8000/#, with: "xyz/48000")
        })
    }
    let attempt = Attempt(server.configuration(), face: face)
    let reason = try await peerReason(attempt)
    #expect(reason.hasPrefix("SDP: "))
    #expect(reason.contains("XYZ"))
    try await check(attempt, "peerChannelError", face)
  }

  /// One kind of media has a common codec and the other hasn't: the error names the one that hasn't, and both lists.
  @Test(arguments: ["audio", "video"]) func noCommonCodecForOneKind(_ kind: String) async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora { connection, message in
      guard case .connect = message else { return }
      connection.send(
        far.offer {
          $0.sdp =
            kind == "video"
            ? $0.sdp.replacing(#/(VP8|VP9|AV1|H264|H265)/90000/#, with: "XYZ/90000")
            : $0.sdp.replacing(#/(opus|red)/48000|PCM[UA]/8000/#, with: "XYZ/48000")
        })
    }
    let attempt = Attempt(server.configuration(), face: .tasks)
    let reason = try await peerReason(attempt)
    let mid = try #require(far.mids[kind])
    #expect(
      reason.hasPrefix("SDP: the offer's section for \(kind), mid \"\(mid)\", can't be used: "),
      "\(reason)")
    #expect(reason.contains("it offers XYZ/"))
    let supported = try #require(reason.firstRange(of: "this side supports "))
    #expect(reason[supported.upperBound...].contains(kind == "video" ? "VP8" : "opus"))
    #expect(!reason.contains("not found"))
    try await check(attempt, "peerChannelError", .tasks)
  }

  @Test(arguments: Face.allCases) func offerThatIsNoSDP(_ face: Face) async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora { connection, message in
      if case .connect = message { connection.send(far.offer { $0.sdp = "nonsense" }) }
    }
    let attempt = Attempt(server.configuration(), face: face)
    #expect(try await peerReason(attempt).hasPrefix("SDP: "))
    try await check(attempt, "peerChannelError", face)
  }

  @Test(arguments: Face.allCases) func undecodableOffer(_ face: Face) async throws {
    let server = try await ScriptedSora { connection, message in
      guard case .connect = message else { return }
      connection.send(text: "{\"type\":\"surprise\"}")
      connection.send(text: "no JSON at all")
      connection.send(text: "{\"type\":\"offer\",\"sdp\":5,\"connection_id\":\"C\"}")
    }
    let attempt = Attempt(server.configuration(), face: face)
    guard case .invalidSignalingMessage = try await attempt.error() else {
      throw AnotherError()
    }
    try await check(attempt, "invalidSignalingMessage", face)
    #expect(try #require(attempt.channels.elements.first?.failureReason).contains("offer.sdp"))
  }

  @Test(arguments: Face.allCases) func refusedByTheServer(_ face: Face) async throws {
    let server = try await ScriptedSora { connection, message in
      connection.close(code: .signalingError, reason: "INVALID-CHANNEL")
    }
    let attempt = Attempt(server.configuration(.recvonly), face: face)
    guard case .webSocketClosed(let code, let reason) = try await attempt.error() else {
      throw AnotherError()
    }
    #expect(code == .other(4490))
    #expect(reason == "INVALID-CHANNEL")
    try await check(attempt, "webSocketClosed", face)
  }

  @Test(arguments: Face.allCases) func closedAfterTheOffer(_ face: Face) async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora { connection, message in
      switch message {
      case .connect: connection.send(far.offer())
      case .answer: connection.close(code: .normal, reason: "LIFETIME-EXPIRED")
      default: break
      }
    }
    let attempt = Attempt(server.configuration(), face: face)
    guard case .webSocketClosed(.normal, "LIFETIME-EXPIRED") = try await attempt.error() else {
      throw AnotherError()
    }
    try await check(attempt, "webSocketClosed", face)
  }

  @Test(arguments: Face.allCases) func wrongPath(_ face: Face) async throws {
    let server = try await ScriptedSora()
    var configuration = server.configuration()
    configuration.urlCandidates = [URL(string: server.url + "/elsewhere")!]
    let attempt = Attempt(configuration, face: face)
    guard case .webSocketError(let error) = try await attempt.error() else {
      throw AnotherError()
    }
    #expect((error as? SignalingError)?.code == .unexpectedStatus(404))
    try await check(attempt, "webSocketError", face)
  }

  @Test(arguments: Face.allCases) func nothingListens(_ face: Face) async throws {
    let attempt = Attempt(try configurationOfNobody(), face: face)
    guard case .webSocketError(let error) = try await attempt.error() else {
      throw AnotherError()
    }
    #expect((error as? SignalingError)?.code == .refused)
    try await check(attempt, "webSocketError", face)
  }

  @Test(arguments: Face.allCases) func portWithoutTLS(_ face: Face) async throws {
    let server = try await ScriptedSora()
    var configuration = server.configuration()
    configuration.urlCandidates = [
      URL(string: server.url.replacingOccurrences(of: "ws:", with: "wss:"))!
    ]
    let attempt = Attempt(configuration, face: face)
    guard case .webSocketError(let error) = try await attempt.error() else {
      throw AnotherError()
    }
    #expect((error as? SignalingError)?.stage == .tls)
    try await check(attempt, "webSocketError", face)
  }

  @Test(arguments: Face.allCases) func redirectToNowhere(_ face: Face) async throws {
    let server = try await ScriptedSora { connection, message in
      if case .connect = message { connection.send(.redirect(.init(location: "http://nowhere"))) }
    }
    let attempt = Attempt(server.configuration(), face: face)
    guard case .signalingChannelError(let reason) = try await attempt.error() else {
      throw AnotherError()
    }
    #expect(reason.hasPrefix("redirect:"))
    try await check(attempt, "signalingChannelError", face)
  }

  /// A receiver says `redirect` too, although it has no SDP to repeat.
  @Test(arguments: Role.allRoles) func redirectIsSaidOnTheSecondConnect(_ role: Role) async throws {
    let second = try await ScriptedSora { connection, _ in
      connection.close(code: .signalingError, reason: "END")
    }
    let location = second.url
    let first = try await ScriptedSora { connection, message in
      if case .connect = message { connection.send(.redirect(.init(location: location))) }
    }
    let attempt = Attempt(first.configuration(role), face: .handlers)
    guard case .webSocketClosed = try await attempt.error() else {
      throw AnotherError()
    }
    #expect(first.connects().first?.redirect == nil)
    #expect(second.connects().first?.redirect == true)
    #expect((second.connects().first?.sdp == nil) == (role == .recvonly))
    // It is a message of the server like any other, though it is acted on before it is told.
    #expect(attempt.log.elements.filter { $0.hasPrefix("signaling") } == ["signaling redirect"])
  }

  @Test(arguments: Face.allCases) func metadataThatIsNotJSON(_ face: Face) async throws {
    let server = try await ScriptedSora()
    var configuration = server.configuration()
    configuration.signalingConnectMetadata = ["x": Double.nan]
    let attempt = Attempt(configuration, face: face)
    guard case .signalingChannelError(let reason) = try await attempt.error() else {
      throw AnotherError()
    }
    #expect(reason.contains("signalingConnectMetadata"))
    try await check(attempt, "signalingChannelError", face)
    #expect(server.received.elements.isEmpty)
  }

  /// Free-form values that are JSON, but not what the protocol has in their place, never reach the server.
  @Test(arguments: [
    "videoVp9Params", "videoAv1Params", "videoH264Params", "audioOpusParams", "dataChannels",
  ]) func wishesOfTheWrongForm(_ name: String) async throws {
    let server = try await ScriptedSora()
    var configuration = server.configuration()
    switch name {
    case "videoVp9Params": configuration.videoVp9Params = ["profile_id": "two"]
    case "videoAv1Params": configuration.videoAv1Params = "main"
    case "videoH264Params": configuration.videoH264Params = ["profile_level_id": 42]
    case "audioOpusParams": configuration.audioOpusParams = ["stereo": 1]
    default: configuration.dataChannels = [["direction": "sendrecv"]]
    }
    let attempt = Attempt(configuration, face: .tasks)
    guard case .signalingChannelError(let reason) = try await attempt.error() else {
      throw AnotherError()
    }
    #expect(reason.contains(name))
    #expect(server.received.elements.isEmpty)
  }

  // MARK: Time

  /// An attempt whose time passes while it's at a stage. On a busy machine a short time may pass at an earlier one; a
  /// longer one then doesn't.
  private func timeout(
    at stage: ConnectStage, _ configuration: Configuration, _ face: Face
  ) async throws -> MediaChannel {
    var channel: MediaChannel?
    for limit in [1, 5, 25] {
      var configuration = configuration
      configuration.connectionTimeout = limit
      let attempt = Attempt(configuration, face: face)
      guard case .connectionTimeout = try await attempt.error() else {
        throw AnotherError()
      }
      try await check(attempt, "connectionTimeout", face)
      channel = attempt.channels.elements.first
      if channel?.connectStage == stage { break }
    }
    let last = try #require(channel)
    #expect(last.connectStage == stage)
    return last
  }

  @Test(arguments: Face.allCases) func silentServer(_ face: Face) async throws {
    let server = try await ScriptedSora()
    let channel = try await timeout(at: .offer, server.configuration(), face)
    #expect(try #require(channel.failureReason).contains("waiting for the server's offer"))
    await server.closed.wait(for: 1)
  }

  /// The server answers, but its media never does.
  @Test(arguments: Face.allCases) func silentMedia(_ face: Face) async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora { connection, message in
      if case .connect = message { connection.send(far.offer()) }
    }
    _ = try await timeout(at: .transport, server.configuration(), face)
  }

  // MARK: Cancelling

  @Test(arguments: Face.allCases) func cancelWhileTheOfferIsAwaited(_ face: Face) async throws {
    let server = try await ScriptedSora()
    let attempt = Attempt(server.configuration(), face: face)
    await server.wait(for: "connect")
    attempt.cancel()
    guard case .connectionCancelled = try await attempt.error() else {
      throw AnotherError()
    }
    try await check(attempt, "connectionCancelled", face)
    await server.wait(for: "disconnect")
    await server.closed.wait(for: 1)
  }

  /// What the server says meanwhile wakes the channel's task, which must not close the WebSocket before the farewell has left.
  @Test func cancelWhileTheServerTalks() async throws {
    let server = try await ScriptedSora { connection, message in
      guard case .connect = message else { return }
      for _ in 0..<500 { connection.send(.notify(NotifyMessage(eventType: "talk"))) }
    }
    let attempts = 150
    for count in 1...attempts {
      let attempt = Attempt(server.configuration(), face: .handlers)
      await server.received.wait { $0.count { $0.typeName == "connect" } == count }
      attempt.cancel()
      await server.closed.wait(for: count)
    }
    #expect(server.received.elements.count { $0.typeName == "disconnect" } == attempts)
  }

  @Test(arguments: Face.allCases) func cancelAtOnce(_ face: Face) async throws {
    let server = try await ScriptedSora()
    let attempt = Attempt(server.configuration(), face: face)
    attempt.cancel()
    guard case .connectionCancelled = try await attempt.error() else {
      throw AnotherError()
    }
    try await check(attempt, "connectionCancelled", face)
  }

  @Test func stateOfTheTask() async throws {
    let server = try await ScriptedSora()
    let told = Recorder<Void>()
    let task = Sora().connect(configuration: server.configuration()) { _, _ in told.append(()) }
    #expect(task.state == .connecting)
    task.cancel()
    #expect(task.state == .canceled)
    task.cancel()
    await told.wait(for: 1)
    #expect(told.elements.count == 1)
    let failing = Recorder<Void>()
    let second = Sora().connect(configuration: try configurationOfNobody()) { _, _ in
      failing.append(())
    }
    await failing.wait(for: 1)
    #expect(second.state == .completed)
    second.cancel()
    #expect(second.state == .completed)
  }

  /// `disconnect` ends an attempt too, and the app's own error is handed on.
  @Test(arguments: Face.allCases) func disconnectDuringTheAttempt(_ face: Face) async throws {
    let server = try await ScriptedSora()
    let attempt = Attempt(server.configuration(), face: face)
    await server.wait(for: "connect")
    let channel = try #require(attempt.channels.elements.first)
    channel.disconnect(error: SoraError.cameraError(reason: "mine"))
    guard case .cameraError("mine") = try await attempt.error() else {
      throw AnotherError()
    }
    try await check(attempt, "cameraError", face)
  }
}

/// The attempt failed with another error than expected.
struct AnotherError: Error {}

extension Role {
  static let allRoles: [Role] = [.sendonly, .recvonly, .sendrecv]
}

/// Leads to a port on which nothing listens.
private func configurationOfNobody() throws -> Configuration {
  let url = URL(string: "ws://127.0.0.1:\(try unusedPort())/signaling")!
  return Configuration(url: url, channelId: "sora", role: .sendrecv)
}
