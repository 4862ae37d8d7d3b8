import Logging
import NIOCore
import Synchronization

/// The state of one attempt to open a WebSocket: how far it came, and its one outcome.
///
/// The first of success, failure, timeout and cancellation wins; the others find it decided.
final class WebSocketConnectAttempt: Sendable {
  typealias Outcome = Result<WebSocketConnection, SignalingError>

  private struct State {
    var stage = SignalingError.Stage.resolve
    var channel: (any Channel)?
    var outcome: Outcome?
    var continuation: CheckedContinuation<Outcome, Never>?
    var deadline: Scheduled<Void>?
  }

  let endpoint: WebSocketEndpoint
  let options: WebSocketOptions
  private let state = Mutex(State())

  init(endpoint: WebSocketEndpoint, options: WebSocketOptions) {
    self.endpoint = endpoint
    self.options = options
  }

  var stage: SignalingError.Stage {
    get { state.withLock { $0.stage } }
    set { state.withLock { $0.stage = newValue } }
  }

  /// Waits for the outcome. Cancelling the task fails the attempt at once.
  func connection() async throws(SignalingError) -> WebSocketConnection {
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome: Outcome? = state.withLock { state in
          if state.outcome == nil { state.continuation = continuation }
          return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      fail(.cancelled)
    }
    return try outcome.get()
  }

  func startDeadline(on eventLoop: any EventLoop) {
    let deadline = eventLoop.scheduleTask(in: TimeAmount(options.timeout)) { [self] in
      fail(
        SignalingError(
          stage: stage, code: .timeout,
          detail: "the server did not answer within \(options.timeout)",
          wayOut: Self.timeoutWayOut(stage)))
    }
    let isDecided = state.withLock { state in
      state.deadline = deadline
      return state.outcome != nil
    }
    if isDecided { deadline.cancel() }
  }

  private static func timeoutWayOut(_ stage: SignalingError.Stage) -> String {
    switch stage {
    case .resolve: "check the host's name and the DNS of this machine, or allow more time"
    case .connect: "check host, port and firewall, or allow more time"
    case .proxy: "check the proxy's host and port, or allow more time"
    case .tls: "check that the port speaks TLS, or use ws:// for one that doesn't"
    default: "check that the port is the signaling port of a Sora, or allow more time"
    }
  }

  /// Takes the channel, unless the attempt is already decided.
  func attach(_ channel: any Channel) -> Bool {
    state.withLock { state in
      guard state.outcome == nil else { return false }
      state.channel = channel
      return true
    }
  }

  func fail(_ error: SignalingError) {
    _ = finish(.failure(error.at(url: endpoint.text)))
  }

  /// Returns false when it was decided before.
  func succeed(_ connection: WebSocketConnection) -> Bool { finish(.success(connection)) }

  private func finish(_ outcome: Outcome) -> Bool {
    var channel: (any Channel)?
    var continuation: CheckedContinuation<Outcome, Never>?
    var deadline: Scheduled<Void>?
    let isFirst = state.withLock { state in
      guard state.outcome == nil else { return false }
      state.outcome = outcome
      continuation = state.continuation
      deadline = state.deadline
      channel = state.channel
      state.continuation = nil
      state.channel = nil
      return true
    }
    guard isFirst else { return false }
    deadline?.cancel()
    if case .failure = outcome { channel?.close(promise: nil) }
    continuation?.resume(returning: outcome)
    return true
  }
}

extension TimeAmount {
  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    // A century is as good as for ever, and adding it to the clock can't overflow.
    let limit = Int64(100 * 365 * 86400) * 1_000_000_000
    self = .nanoseconds(
      overflow
        ? (seconds > 0 ? limit : 0)
        : min(max(nanoseconds, 0) &+ max(attoseconds, 0) / 1_000_000_000, limit))
  }
}
