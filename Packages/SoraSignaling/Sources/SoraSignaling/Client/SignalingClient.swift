public import Logging
import NIOCore
import NIOPosix
import Synchronization

/// One client's signaling with a Sora: finds a node, sends `connect`, follows redirects, answers
/// pings, and hands on what arrives.
///
/// Everything may be called from any thread. Events come in order, one at a time, and end with
/// exactly one `closed` or `failed`.
public final class SignalingClient: Sendable {
  public struct Configuration: Sendable {
    /// Signaling URLs. Duplicates are dropped; all are opened at once and the first open one wins.
    public var urls: [String]
    /// What is sent once a WebSocket is open; `redirect` is set where it belongs.
    public var connect: ConnectMessage
    /// Completes `connect` with what takes a while to find out: runs once, while the WebSocket opens. Its task is cancelled where the
    /// attempt ends before.
    public var completeConnect: (@Sendable (inout ConnectMessage) async -> Void)?
    /// For each WebSocket; its `timeout` is that of one candidate.
    public var webSocket: WebSocketOptions
    /// From `connect()` to the offer, redirects included.
    public var timeout: Duration
    public var maximumRedirects: Int
    /// Answers a `ping` that asks for statistics; nil answers without.
    public var statistics: (@Sendable () async -> [JSONValue])?
    /// Sees every message as it came, before it is handled. Runs on the client's task.
    public var onReceive: (@Sendable (WebSocketMessage) -> Void)?
    /// Sees every event, on the client's task. Where it is set, `events` stays empty.
    public var onEvent: (@Sendable (Event) -> Void)?
    public var logger: Logger

    public init(
      urls: [String], connect: ConnectMessage, webSocket: WebSocketOptions = WebSocketOptions(),
      timeout: Duration = .seconds(30), maximumRedirects: Int = 10,
      statistics: (@Sendable () async -> [JSONValue])? = nil,
      onReceive: (@Sendable (WebSocketMessage) -> Void)? = nil,
      onEvent: (@Sendable (Event) -> Void)? = nil,
      logger: Logger = Logger(label: "sora.signaling")
    ) {
      self.urls = urls
      self.connect = connect
      self.webSocket = webSocket
      self.timeout = timeout
      self.maximumRedirects = maximumRedirects
      self.statistics = statistics
      self.onReceive = onReceive
      self.onEvent = onEvent
      self.logger = logger
    }
  }

  public enum Event: Sendable, Hashable {
    /// A WebSocket is open and `connect` was sent on it.
    case opened(url: String)
    /// The server sent the client elsewhere; another `opened` follows.
    case redirected(location: String)
    /// Any message, `offer` and `ping` (already answered) included, `redirect` excepted.
    case message(SignalingMessage)
    /// A text that is no message. Signaling goes on.
    case undecodable(text: String, error: SignalingError)
    /// The WebSocket ended after the offer.
    case closed(WebSocketClose)
    /// There was no offer.
    case failed(SignalingError)
  }

  /// Events for one reader.
  public typealias Events = EventSequence<Event>

  private enum Phase { case idle, connecting, connected, ended }

  private struct State {
    var phase = Phase.idle
    var connection: WebSocketConnection?
    var contactURL: String?
    var connectedURL: String?
    var offer: CheckedContinuation<Result<OfferMessage, SignalingError>, Never>?
    var task: Task<Void, Never>?
    var timer: Scheduled<Void>?
    var last: Event?
    var isStarted = false
  }

  /// So many events that nobody reads end the connection.
  static let maximumQueuedBytes = 64 << 20

  public let configuration: Configuration
  private let state = Mutex(State())
  private let queue = EventQueue<Event>(highWater: SignalingClient.maximumQueuedBytes)

  public init(configuration: Configuration) { self.configuration = configuration }

  /// Starts the threads that all clients of a process share, and lists the fields of messages, so that the first one needn't wait
  /// for them. Takes some milliseconds the first time.
  public static func prepare() {
    _ = MultiThreadedEventLoopGroup.singleton.next()
    _ = SignalingMessage.connect(ConnectMessage(role: .sendrecv, channelID: "")).text
    _ = try? SignalingMessage(parsing: #"{"type":"offer","sdp":"","connection_id":""}"#)
  }

  /// Goes once through opening a WebSocket, `connect` and an offer, with itself and over no network: whatever is used first takes Swift's
  /// runtime ten times as long. After `prepare`, on nobody's way.
  ///
  /// - Parameters:
  ///   - connect: what is said.
  ///   - offer: the text of the answer.
  /// - Returns: the offer as it came; nil where it didn't, and why, the next connection tells.
  @discardableResult
  public static func rehearse(_ connect: ConnectMessage, offer: String) async -> OfferMessage? {
    await WebSocketRehearsal.run(connect, offer: offer)
  }

  /// What happens, for one reader; unless `Configuration.onEvent` is set.
  public var events: Events { Events(queue: queue) }

  /// Where the first `connect` was sent; nil before.
  public var contactURL: String? { state.withLock { $0.contactURL } }

  /// Where the offer came from; nil before.
  public var connectedURL: String? { state.withLock { $0.connectedURL } }

  /// Connects, up to the offer. May be called once. Cancelling the task ends it at once.
  ///
  /// - Throws: the stage it failed at; of several URLs the error of the one that came furthest,
  ///   with those of all in `candidates`. A server's close code is in `code`.
  public func connect() async throws(SignalingError) -> OfferMessage {
    let isFirst = state.withLock { state in
      guard state.phase == .idle else { return false }
      state.phase = .connecting
      return true
    }
    guard isFirst else {
      throw SignalingError(
        stage: .configuration, code: .invalidConfiguration,
        detail: "this client has been used already", wayOut: "make a new SignalingClient")
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // Cancelled before it began: the handler below has run and found nobody waiting.
        let last: Event? = state.withLock { state in
          if state.last == nil {
            state.offer = continuation
            state.isStarted = true
          }
          return state.last
        }
        if let last {
          return continuation.resume(returning: .failure(Self.error(of: last)))
        }
        start()
      }
    } onCancel: {
      end(.failed(.cancelled))
    }
    switch result {
    case .success(let offer): return offer
    case .failure(let error): throw error
    }
  }

  /// Sends a message on the open WebSocket, after those sent before.
  ///
  /// - Returns: false when there is none, or it is closing.
  @discardableResult
  public func send(_ message: SignalingMessage) -> Bool {
    guard let connection = state.withLock({ $0.connection }) else { return false }
    return connection.send(text: message.text)
  }

  /// Leaves: sends `disconnect` and waits for the server to close, or closes itself when the
  /// server doesn't in time. Ends an attempt that has no offer yet, at once.
  public func disconnect(reason: String = "NO-ERROR", timeout: Duration = .seconds(3)) async {
    send(.disconnect(DisconnectMessage(reason: reason)))
    let (phase, task, connection) = state.withLock { ($0.phase, $0.task, $0.connection) }
    // Before the offer a redirect may be on its way, which would lead the attempt on.
    guard phase != .connecting, let task, let connection else { return close() }
    let timer = MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: TimeAmount(timeout)) {
      connection.close()
    }
    await task.value
    timer.cancel()
  }

  /// Closes the WebSocket, or ends the attempt.
  public func close(code: WebSocketCloseCode = .normal, reason: String = "") {
    let (phase, connection) = state.withLock { ($0.phase, $0.connection) }
    if phase == .connected, let connection {
      connection.close(code: code, reason: reason)
    } else {
      end(.failed(.cancelled))
    }
  }

  // MARK: Ends

  /// Decides the last event; the first caller wins. `connect()` returns at once; the event
  /// itself comes from the client's task, so that it is really the last.
  private func end(_ event: Event) {
    var connection: WebSocketConnection?
    var offer: CheckedContinuation<Result<OfferMessage, SignalingError>, Never>?
    var task: Task<Void, Never>?
    let (isFirst, isStarted) = state.withLock { state in
      guard state.last == nil else { return (false, false) }
      task = state.task
      state.last = event
      state.phase = .ended
      connection = state.connection
      offer = state.offer
      state.offer = nil
      state.timer?.cancel()
      return (true, state.isStarted)
    }
    guard isFirst else { return }
    task?.cancel()
    connection?.close()
    offer?.resume(returning: .failure(Self.error(of: event)))
    if !isStarted { emitLast() }
  }

  private func emitLast() {
    if let last = state.withLock({ $0.last }) { emit(last) }
    queue.finish()
  }

  private static func error(of event: Event) -> SignalingError {
    switch event {
    case .failed(let error): error
    case .closed(let close): Self.error(of: close, url: nil)
    default: .cancelled
    }
  }

  private static func error(of close: WebSocketClose, url: String?) -> SignalingError {
    if let error = close.error { return error }
    let wayOut =
      close.code == .signalingError
      ? "the server refuses this connect: check channel id, role, metadata and options"
      : "check the server's log for this connection"
    let reason = close.reason.isEmpty ? "no reason given" : close.reason
    return SignalingError(
      stage: .signaling, code: .closed(code: close.code, reason: close.reason),
      detail: "the server closed the WebSocket before its offer, code \(close.code): \(reason)",
      wayOut: wayOut, url: url)
  }

  private func emit(_ event: Event, size: Int = 0) {
    if let onEvent = configuration.onEvent { return onEvent(event) }
    if queue.push(event, cost: size + 256) {
      let isOverrun = state.withLock { $0.last == nil }
      guard isOverrun else { return }
      configuration.logger.error("events are not read; signaling ends")
      end(
        .failed(
          SignalingError(
            stage: .signaling, code: .queueFull, detail: "nobody reads the events",
            wayOut: "iterate SignalingClient.events, or set onEvent")))
    }
  }

  // MARK: The attempt

  private func start() {
    let timeout = configuration.timeout
    let timer = MultiThreadedEventLoopGroup.singleton.next().scheduleTask(
      in: TimeAmount(timeout)
    ) { [weak self] () -> Void in
      self?.timedOut()
    }
    let task = Task {
      do throws(SignalingError) {
        try await run()
      } catch {
        end(.failed(error))
      }
      emitLast()
    }
    let isEnded = state.withLock { state in
      state.timer = timer
      state.task = task
      return state.phase != .connecting
    }
    guard isEnded else { return }
    // Decided in the meantime, one way or the other.
    timer.cancel()
    if state.withLock({ $0.last != nil }) { task.cancel() }
  }

  private func timedOut() {
    let (phase, connection) = state.withLock { ($0.phase, $0.connection) }
    guard phase == .connecting else { return }
    end(
      .failed(
        SignalingError(
          stage: connection == nil ? .connect : .signaling, code: .timeout,
          detail: connection == nil
            ? "no WebSocket opened within \(configuration.timeout)"
            : "no offer came within \(configuration.timeout)",
          wayOut: "check the server, or allow more time", url: connection?.url)))
  }

  private func run() async throws(SignalingError) {
    // The sockets first: connecting is mostly waiting, and what completes `connect` is work.
    var race = try SignalingRace(configuration.urls, options: configuration.webSocket)
    let completion = Task { [configuration] in
      var connect = configuration.connect
      await configuration.completeConnect?(&connect)
      return connect
    }
    defer { completion.cancel() }
    var redirects = 0
    while true {
      let connection = try await race.winner()
      var connect = await withTaskCancellationHandler {
        await completion.value
      } onCancel: {
        completion.cancel()
      }
      if redirects > 0 { connect.redirect = true }
      guard adopt(connection) else { return connection.close() }
      connection.send(text: SignalingMessage.connect(connect).text)
      emit(.opened(url: connection.url))
      guard let location = try await exchange(connection) else { return }
      redirects += 1
      guard redirects <= configuration.maximumRedirects else {
        throw SignalingError(
          stage: .redirect, code: .tooManyRedirects, field: "redirect.location",
          value: location, detail: "the server redirected \(redirects) times",
          wayOut: "check the cluster: its nodes send the client in a circle", url: connection.url)
      }
      state.withLock { $0.connection = nil }
      connection.close()
      emit(.redirected(location: location))
      _ = try WebSocketEndpoint(location, stage: .redirect)
      if connection.url.hasPrefix("wss:"), location.hasPrefix("ws:") {
        configuration.logger.warning("a redirect leads from wss to ws")
      }
      race = try SignalingRace([location], options: configuration.webSocket)
    }
  }

  private func adopt(_ connection: WebSocketConnection) -> Bool {
    state.withLock { state in
      guard state.last == nil else { return false }
      state.connection = connection
      if state.contactURL == nil { state.contactURL = connection.url }
      return true
    }
  }

  /// Reads one WebSocket to its end. Returns where a redirect leads, or nil when all is over.
  private func exchange(_ connection: WebSocketConnection) async throws(SignalingError) -> String? {
    for await event in connection.messages {
      switch event {
      case .text(let text):
        configuration.onReceive?(.text(text))
        if let location = try handle(text, on: connection) { return location }
      case .binary(let bytes):
        configuration.onReceive?(.binary(bytes))
        configuration.logger.warning("a binary frame was ignored: signaling is text")
      case .closed(let close):
        guard state.withLock({ $0.phase == .connected }) else {
          throw Self.error(of: close, url: connection.url)
        }
        end(.closed(close))
        return nil
      }
    }
    // Cancelled: whoever did it has said why.
    return nil
  }

  private func handle(
    _ text: String, on connection: WebSocketConnection
  ) throws(SignalingError) -> String? {
    let message: SignalingMessage
    do {
      message = try SignalingMessage(parsing: text)
    } catch {
      let isConnecting = state.withLock { $0.phase == .connecting }
      let field = error.field ?? ""
      // Without it there will be no connection: better told now than at the time limit.
      if isConnecting, field.hasPrefix("offer") || field.hasPrefix("redirect") {
        throw error.at(url: connection.url)
      }
      configuration.logger.warning("a message was ignored: \(error)")
      emit(.undecodable(text: text, error: error), size: text.utf8.count)
      return nil
    }
    switch message {
    case .redirect(let redirect):
      if state.withLock({ $0.phase == .connecting }) { return redirect.location }
      configuration.logger.warning("a redirect after the offer was ignored")
    case .ping(let ping): answer(ping, on: connection)
    case .offer(let offer): offered(offer, text: text, on: connection)
    default: emit(.message(message), size: text.utf8.count)
    }
    return nil
  }

  private func answer(_ ping: PingMessage, on connection: WebSocketConnection) {
    if ping.statisticsEnabled == true, let statistics = configuration.statistics {
      // Beside the reading task, which must not wait for it.
      Task {
        let pong = PongMessage(statistics: await statistics())
        connection.send(text: SignalingMessage.pong(pong).text)
      }
    } else {
      connection.send(text: SignalingMessage.pong(PongMessage()).text)
    }
    emit(.message(.ping(ping)))
  }

  private func offered(_ offer: OfferMessage, text: String, on connection: WebSocketConnection) {
    let waiting = state.withLock { state in
      guard state.last == nil else {
        return nil as CheckedContinuation<Result<OfferMessage, SignalingError>, Never>?
      }
      state.phase = .connected
      state.connectedURL = connection.url
      state.timer?.cancel()
      defer { state.offer = nil }
      return state.offer
    }
    emit(.message(.offer(offer)), size: text.utf8.count)
    waiting?.resume(returning: .success(offer))
  }
}
