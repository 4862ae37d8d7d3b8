import Dispatch
import Foundation
import SoraClock
import SoraSignaling
import SoraTransport
import Synchronization
import WebRTC

extension MediaChannel {
  /// What the channel's task works on.
  enum Input: Sendable {
    case signaling(SignalingClient.Event)
    case peer(PeerEvents.Event)
    case channel(ChannelInput)
  }

  // MARK: The attempt

  /// Takes the handler; nothing happens before `start`.
  func prepare(
    _ completion: Completion
  ) -> ConnectionTask {
    let task = ConnectionTask { [weak self] in self?.cancelAttempt() }
    storage.withLock { state in
      state.progress.start(at: SystemClock.now)
      state.completion = completion
      state.task = task
    }
    return task
  }

  func start() {
    Logger.debug(type: .mediaChannel, message: "try connecting to \(configuration.urlCandidates)")
    // Dispatch, and not a task that sleeps: the limit must hold where an app blocks every thread of its tasks.
    let limit = timeLimit
    let patience = HeldTimer(after: .seconds(limit), on: .global()) { [weak self] in
      self?.timedOut(after: limit)
    }
    storage.withLock { state in
      if state.phase == .connecting { state.patience = patience }
    }
    Task { await run() }
  }

  /// Seconds, bounded so that it can be added to a time.
  private var timeLimit: Int { min(max(0, configuration.connectionTimeout), 1 << 24) }

  private func timedOut(after limit: Int) {
    let stage = connectStage
    let reason =
      "\(stage) took longer than the time limit of \(limit) s; check that the server answers and that UDP passes,"
      + " or allow more time with connectionTimeout"
    end(SoraError.connectionTimeout, reason: reason, in: [.connecting])
  }

  /// The channel's task: the only one that talks to the peer connection and acts on messages.
  private func run() async {
    defer { input.finish() }
    if let (name, error) = configuration.freeFormError {
      let reason = "configuration: \(name) can't be sent: \(error)"
      return end(SoraError.signalingChannelError(reason: reason), reason: reason)
    }
    let limit = Duration.seconds(timeLimit + 5)
    var settings = SignalingClient.Configuration(
      urls: configuration.urlCandidates.map(\.absoluteString),
      connect: ConnectMessage(
        role: SignalingRole(configuration.role).message, channelID: configuration.channelId),
      // Longer than the channel's own limit, which is the one that counts.
      webSocket: configuration.webSocketOptions(timeout: limit), timeout: limit)
    settings.completeConnect = { [weak self] connect in
      self?.complete(&connect)
    }
    settings.logger = SDKLogHandler.logger
    settings.statistics = { [weak self] in await self?.statistics().json ?? [] }
    settings.onEvent = { [input] in input.yield(.signaling($0)) }
    settings.onReceive = { [weak self] message in self?.received(message) }
    let client = SignalingClient(configuration: settings)
    let isWanted = storage.withLock { state in
      if state.phase == .connecting { state.client = client }
      return state.phase == .connecting
    }
    guard isWanted else { return }
    // Its result comes as an event too.
    let attempt = Task { _ = try? await client.connect() }
    for await input in inputs {
      // Not the loop's end: whoever ends the channel says so to the server first, and then ends the input.
      guard storage.withLock({ $0.phase != .ended }) else { continue }
      switch input {
      case .signaling(let event): await handle(event)
      case .peer(let event): handle(event)
      case .channel(let event): await handle(event)
      }
    }
    attempt.cancel()
  }

  /// Makes what doesn't depend on the WebSocket, while that opens.
  private func complete(_ connect: inout ConnectMessage) {
    do throws(ConnectPreparation.Failure) {
      let preparation = try ConnectPreparation(
        for: configuration.role, factory: NativeFactory.shared)
      storage.withLock { $0.certificate = preparation.certificate }
      connect = SignalingConnect(configuration, sdp: preparation.capability).message
    } catch {
      end(SoraError.peerChannelError(reason: error.reason), reason: error.reason, in: [.connecting])
    }
  }

  private func received(_ message: SoraSignaling.WebSocketMessage) {
    let handlers = configuration.webSocketChannelHandlers
    guard handlers.onReceive != nil else { return }
    deliver { _ in
      switch message {
      case .text(let text): await handlers.onReceive?(.text(text))
      case .binary(let bytes): await handlers.onReceive?(.binary(Data(bytes)))
      }
    }
  }

  /// Media can flow: the attempt ends well.
  private func connected() {
    deliver { channel in
      let (completion, task) = channel.storage.withLock { state in
        defer { state.completion = nil }
        return (state.completion, state.task)
      }
      task?.end(.completed)
      Logger.info(type: .mediaChannel, message: "did connect")
      // First: who subscribes once `connect` has returned gets it among what has been.
      channel.hub.publish(.connected)
      await completion?.call(channel, nil)
      await channel.sora.handlers.onConnect?(channel, nil)
      await channel.handlers.onConnect?(nil)
    } when: { state in
      state.patience = nil
      return state.progress.connected()
    }
  }

  // MARK: What the peer connection says

  private func handle(_ event: PeerEvents.Event) {
    switch event {
    case .candidate(let candidate):
      let transport = storage.withLock { $0.route.preferred }
      say(.candidate(CandidateMessage(candidate: candidate)), over: transport)
    case .connected: connected()
    case .failed(let error, let isFarewell): peerFailed(error, isFarewell: isFarewell)
    case .added(let stream): added(stream)
    case .removed(let stream): removed(stream)
    case .opened(let channel): opened(channel)
    }
  }

  private func peerFailed(_ reason: String, isFarewell: Bool) {
    let error = SoraError.peerChannelError(reason: reason)
    guard isFarewell, storage.withLock({ $0.phase }) == .connected else {
      return end(error, reason: reason, in: [.connecting, .connected])
    }
    // A server that ends a connection may close DTLS a moment before its WebSocket, whose close code says more.
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
      self?.end(error, reason: reason, in: [.connected])
    }
  }

  private func added(_ native: RTCMediaStream) {
    let stream = BasicMediaStream(native, channel: self)
    deliver { channel in
      for sinks in channel.storage.withLock({ $0.streamSinks }) { sinks.add(to: stream) }
      await channel.handlers.onAddStream?(stream)
      channel.hub.publish(.streamAdded(stream))
    } when: { state in
      // Our own stream, sent back.
      guard native.streamId != state.names.connectionID,
        !state.streams.contains(where: { $0.streamId == native.streamId })
      else { return false }
      state.streams.append(stream)
      return true
    }
    if !native.audioTracks.isEmpty { startSpeaker(for: stream) }
  }

  private func removed(_ native: RTCMediaStream) {
    let found = storage.withLock { state in
      state.streams.first { $0.native === native }
    }
    guard let found else { return }
    sora.audio.remove([found])
    deliver { channel in
      for sinks in channel.storage.withLock({ $0.streamSinks }) { sinks.remove(from: found) }
      await channel.handlers.onRemoveStream?(found)
      channel.hub.publish(.streamRemoved(found))
    } when: { state in
      state.streams.removeAll { $0 === found }
      return true
    }
  }

  /// The local stream is there.
  func addLocal(_ stream: BasicMediaStream) {
    deliver { channel in
      await channel.handlers.onAddStream?(stream)
      channel.hub.publish(.streamAdded(stream))
    } when: { state in
      state.streams.insert(stream, at: 0)
      return true
    }
  }

  // MARK: Telling the app

  /// Runs `body` on the channel's queue, in order, unless the channel has ended. The app's handlers are called with `await`.
  ///
  /// - Parameter change: a change of the state that goes with it, made at once; false drops both.
  func deliver(
    _ body: @escaping @Sendable (MediaChannel) async -> Void,
    when change: (inout State) -> Bool = { _ in true }
  ) {
    // Enqueued under the lock: what happens next is told after it.
    storage.withLock { state in
      guard state.phase != .ended, change(&state) else { return }
      queue.enqueue { await body(self) }
    }
  }
}
