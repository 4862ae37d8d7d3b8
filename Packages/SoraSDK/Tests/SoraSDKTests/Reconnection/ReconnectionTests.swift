import Foundation
import SoraSDK
import SoraSignaling
import Synchronization
import Testing
import WebRTC

/// Connections that are made anew.
@Suite(.timeLimit(.minutes(5))) struct ReconnectionTests {
  /// A server with a far end for each connection.
  private final class Cluster: Sendable {
    let connections = Recorder<(WebSocketConnection, FarEnd)>()
    let refusals: Mutex<[String]>
    /// Of data channels that it opens.
    private let labels: [String]

    init(refusing reasons: [String] = [], labels: [String] = []) {
      refusals = Mutex(reasons)
      self.labels = labels
    }

    func start() async throws -> ScriptedSora {
      try await ScriptedSora { [self] connection, message in
        if case .connect = message {
          let count = connections.elements.count
          // Of the first connection nothing is refused.
          let reason = count == 0 ? nil : refusals.withLock { $0.isEmpty ? nil : $0.removeFirst() }
          if let reason { return connection.close(code: .signalingError, reason: reason) }
          let far = try await FarEnd(receives: true, labels: labels)
          connections.append((connection, far))
          connection.send(
            far.offer { offer in
              guard !labels.isEmpty else { return }
              offer.dataChannels = labels.map {
                DataChannelOptions(label: $0) { $0.compress = false }
              }
            })
        } else if let far = connections.elements.first(where: { $0.0 === connection })?.1 {
          try await far.handle(message)
        }
      }
    }
  }

  private var policy: ReconnectionPolicy {
    var policy = ReconnectionPolicy()
    policy.initialDelay = .milliseconds(10)
    policy.maximumDelay = .milliseconds(50)
    return policy
  }

  private func text(_ event: ReconnectingChannelEvent) -> String? {
    switch event {
    case .connected: "connected"
    case .reconnecting(let attempt, _, let error): "reconnecting \(attempt) \(Attempt.text(error))"
    case .channel(.streamAdded(let stream)): "stream+ \(stream.streamId)"
    case .channel: nil
    case .disconnected(let error): "disconnected \(Attempt.text(error))"
    }
  }

  /// Reads events until one of them has come so often.
  private func events(
    of channel: ReconnectingChannel, until last: String, times: Int = 1
  ) async -> [String] {
    var told: [String] = []
    for await event in channel.events {
      if let text = text(event) { told.append(text) }
      if told.count(where: { $0 == last }) == times { break }
    }
    return told
  }

  @Test func whatTheAppHasSetIsKept() async throws {
    let cluster = Cluster()
    let server = try await cluster.start()
    let sora = Sora()
    let connection = try await sora.connect(
      configuration: server.configuration(.sendrecv), reconnection: policy)
    let first = connection.channel
    let stream = try #require(first.senderStream)
    let renderer = IdleRenderer()
    stream.videoRenderer = renderer
    stream.videoFilter = CountingFilter.shared
    stream.audioGain = 0.5
    stream.stoppedVideoPicture = .black
    stream.audioEnabled = false
    cluster.connections.elements[0].0.abort()
    let told = await events(of: connection, until: "stream+ mainStream", times: 2)
    #expect(
      told.filter { !$0.hasPrefix("stream") } == [
        "connected", "reconnecting 1 webSocketError", "connected",
      ])
    let second = connection.channel
    #expect(second !== first && second.isAvailable && first.state == .disconnected)
    #expect(sora.mediaChannels == [second])
    let again = try #require(second.senderStream)
    #expect(again !== stream && again.videoRenderer === renderer)
    #expect(again.videoFilter === CountingFilter.shared)
    #expect(again.audioGain == 0.5 && again.stoppedVideoPicture == .black)
    #expect(!again.audioEnabled && again.videoEnabled)
    // What is sent goes to the stream that there is.
    let sink = PictureSink()
    let far = cluster.connections.elements[1].1
    try #require(far.peer.receivers.compactMap { $0.track as? RTCVideoTrack }.first).add(sink: sink)
    while sink.sizes.elements.isEmpty {
      connection.send(
        videoFrame: .init(from: PixelBuffer(width: 160, height: 90, format: .i420) { _ in }))
      try await Task.sleep(for: .milliseconds(33))
    }
    await connection.disconnect()
    #expect(await events(of: connection, until: "disconnected nil").last == "disconnected nil")
    #expect(sora.mediaChannels.isEmpty)
  }

  /// A server that takes the lost connection for alive still is asked again; one that refuses for another reason isn't.
  @Test func refusals() async throws {
    let cluster = Cluster(refusing: ["DUPLICATED-CONNECTION", "DUPLICATED-CONNECTION"])
    let server = try await cluster.start()
    let connection = try await Sora().connect(
      configuration: server.configuration(.recvonly), reconnection: policy)
    cluster.connections.elements[0].0.abort()
    #expect(
      await events(of: connection, until: "connected", times: 2) == [
        "connected", "reconnecting 1 webSocketError", "reconnecting 2 webSocketClosed",
        "reconnecting 3 webSocketClosed", "connected",
      ])
    cluster.refusals.withLock { $0 = ["NOT-ALLOWED"] }
    cluster.connections.elements[1].0.close(code: .goingAway)
    #expect(
      await events(of: connection, until: "disconnected webSocketClosed") == [
        "reconnecting 1 webSocketClosed", "disconnected webSocketClosed",
      ])
    await connection.disconnect()
  }

  /// A server that goes says so on a data channel where there is no WebSocket any more.
  @Test(arguments: [1001, 1011]) func aLossThatADataChannelTells(_ code: Int) async throws {
    let cluster = Cluster(labels: SwitchedCall.systemLabels)
    let server = try await cluster.start()
    var configuration = server.configuration(.recvonly)
    configuration.dataChannelSignaling = true
    let connection = try await Sora().connect(configuration: configuration, reconnection: policy)
    let (socket, far) = cluster.connections.elements[0]
    for channel in far.channels.values {
      while channel.readyState != .open { try await Task.sleep(for: .milliseconds(2)) }
    }
    socket.send(.switched(SwitchedMessage(ignoreDisconnectWebSocket: true)))
    await server.closed.wait(for: 1)
    let close = SignalingMessage.close(CloseMessage(code: code, reason: "SERVER-SHUTDOWN"))
    #expect(far.channels["signaling"]?.sendData(RTCDataBuffer(text: close.text)) == true)
    let told = await events(of: connection, until: "connected", times: 2)
    #expect(told == ["connected", "reconnecting 1 dataChannelClosed", "connected"])
    await connection.disconnect()
  }

  /// A code and a reason mean the same, whether the WebSocket or a data channel brings them.
  @Test(arguments: [
    (1000, "NO-ERROR", true), (1001, "CHANNEL-MOVED", true), (1011, "INTERNAL-ERROR", true),
    (4490, "NOT-ALLOWED", false), (4490, "", false), (4490, "DUPLICATED-CONNECTION", true),
    (4490, "duplicated-channel-id", true),
  ]) func aCodeMeansTheSameOnEitherWay(_ code: Int, _ reason: String, _ goesOn: Bool) {
    let status = WebSocketStatusCode(rawValue: code)
    let errors = [
      SoraError.webSocketClosed(statusCode: status, reason: reason),
      .dataChannelClosed(statusCode: code, reason: reason),
    ]
    #expect(errors.map { ReconnectionPolicy.isRecoverable($0) } == [goesOn, goesOn])
  }

  @Test func attemptsEnd() async throws {
    let cluster = Cluster()
    let server = try await cluster.start()
    var policy = policy
    policy.maximumAttempts = 2
    let connection = try await Sora().connect(
      configuration: server.configuration(.recvonly), reconnection: policy)
    await server.server.stop()
    cluster.connections.elements[0].0.abort()
    let told = await events(of: connection, until: "disconnected webSocketError")
    // Of the loss itself there are two reasons, and either may be told.
    #expect(
      told.map { $0.hasPrefix("reconnecting 1") ? "reconnecting 1" : $0 } == [
        "connected", "reconnecting 1", "reconnecting 2 webSocketError",
        "disconnected webSocketError",
      ])
  }

  /// An end in order is one, and so is that of an app that leaves while it waits.
  @Test(arguments: [true, false]) func endsThatAreNoLoss(_ byServer: Bool) async throws {
    let cluster = Cluster()
    let server = try await cluster.start()
    var policy = policy
    policy.initialDelay = .seconds(1000)
    policy.maximumDelay = .seconds(1000)
    policy.jitter = 0
    let connection = try await Sora().connect(
      configuration: server.configuration(.recvonly), reconnection: policy)
    if byServer {
      cluster.connections.elements[0].0.close(reason: "LIFETIME-EXPIRED")
      #expect(
        await events(of: connection, until: "disconnected nil") == [
          "connected", "disconnected nil",
        ]
      )
    } else {
      cluster.connections.elements[0].0.abort()
      let waiting = "reconnecting 1 webSocketError"
      #expect(await events(of: connection, until: waiting) == ["connected", waiting])
    }
    await connection.disconnect()
    if !byServer { #expect(await events(of: connection, until: "") == ["disconnected nil"]) }
  }

  @Test func delaysGrowWithinTheirLimit() {
    var policy = ReconnectionPolicy()
    policy.jitter = 0.5
    let full = (1...8).map { policy.delay(before: $0, random: 1) }
    #expect(full == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
    #expect(policy.delay(before: 3, random: 0) == .seconds(2))
    #expect(policy.delay(before: .max, random: 1) == .seconds(30))
    policy.multiplier = .infinity
    policy.maximumDelay = .seconds(1 << 40)
    #expect(policy.delay(before: 9, random: 1) == .seconds(86_400))
    policy.multiplier = -1
    policy.initialDelay = .seconds(-5)
    #expect(policy.delay(before: 9, random: 2) == .zero)
  }
}

/// Shows nothing.
private final class IdleRenderer: VideoRenderer {
  func onChange(size: CGSize) {}
  func render(videoFrame: VideoFrame?) {}
}
