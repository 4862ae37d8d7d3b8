import Foundation
import SoraMedia
import SoraTransport

/// How far a channel has come, from its making to its end.
struct ChannelProgress: Sendable {
  enum Phase: Sendable {
    case idle, connecting, connected, leaving, ended
  }

  private(set) var phase = Phase.idle
  private(set) var stage = ConnectStage.webSocket
  private(set) var startTime: Date?
  /// What the channel itself knows of it.
  private(set) var timeline = ConnectionTimeline()
  private(set) var contactURL: URL?
  private(set) var connectedURL: URL?
  private(set) var failureReason: String?
  private(set) var closeEvent: SoraCloseEvent?

  /// What apps are told of the phase.
  var connection: ConnectionState {
    switch phase {
    case .idle, .ended: .disconnected
    case .connecting: .connecting
    case .connected: .connected
    case .leaving: .disconnecting
    }
  }

  /// The attempt starts.
  mutating func start(at now: Instant) {
    phase = .connecting
    startTime = Date()
    timeline.started = now
  }

  /// The WebSocket is open; perhaps once more, after a redirect.
  mutating func opened(_ url: String, at now: Instant) {
    if contactURL == nil { contactURL = URL(string: url) }
    stage = .offer
    // The last one counts: the phase lasts over redirects.
    timeline.webSocketOpened = now
  }

  mutating func redirected() { stage = .webSocket }

  /// - Parameter url: where the offer came from; nil if unknown.
  mutating func offered(from url: String?, at now: Instant) {
    stage = .negotiation
    timeline.offerReceived = now
    connectedURL = url.flatMap { URL(string: $0) }
  }

  mutating func answered() { stage = .transport }

  /// Media can flow. False where there is no attempt any more.
  mutating func connected() -> Bool {
    guard phase == .connecting else { return false }
    phase = .connected
    stage = .connected
    return true
  }

  /// The app wants to leave: of effect where the channel is connected.
  mutating func leave() {
    if phase == .connected { phase = .leaving }
  }

  /// - Parameters:
  ///   - reason: why it failed; nil where it ended as it should.
  ///   - event: how it ended.
  mutating func end(reason: String?, as event: SoraCloseEvent) {
    phase = .ended
    failureReason = reason
    closeEvent = event
    contactURL = nil
    connectedURL = nil
  }
}
