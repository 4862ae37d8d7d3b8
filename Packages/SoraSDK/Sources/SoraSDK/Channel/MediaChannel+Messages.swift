import Foundation
import SoraClock
import SoraSignaling
import SoraSignalingChannels
import SoraTransport
import Synchronization
import WebRTC

extension MediaChannel {
  func handle(_ event: SignalingClient.Event) async {
    switch event {
    case .opened(let url):
      storage.withLock { $0.progress.opened(url, at: SystemClock.now) }
    case .redirected(let location):
      Logger.info(type: .signalingChannel, message: "redirected to \(location)")
      storage.withLock { $0.progress.redirected() }
      tell(.redirect(RedirectMessage(location: location)))
    case .message(let message): await handle(message, over: .webSocket)
    case .undecodable(_, let error):
      Logger.warn(type: .signalingChannel, message: "a message was ignored: \(error)")
    case .closed(let close): closed(close)
    case .failed(let error): end(SoraError(error), reason: error.description)
    }
  }

  /// The WebSocket ended after the offer.
  private func closed(_ close: WebSocketClose) {
    let (meaning, phase) = storage.withLock { ($0.route.webSocketEnded(), $0.phase) }
    switch meaning {
    case .nothing:
      return Logger.info(
        type: .signalingChannel,
        message: "the WebSocket ended; signaling goes on over data channels")
    case .endWithFarewell where phase == .connected:
      let reason = close.error == nil ? "WEBSOCKET-ONCLOSE" : "WEBSOCKET-ONERROR"
      dataChannels.say(
        SignalingMessage.disconnect(DisconnectMessage(reason: reason)).json, on: .signaling)
    case .end, .endWithFarewell: break
    }
    if let error = close.error {
      return end(SoraError.webSocketError(error), reason: error.description)
    }
    if close.code == .normal, phase == .connected {
      return end(nil, reason: nil, in: [.connected], as: .ok(code: 1000, reason: close.reason))
    }
    let reason = close.reason.isEmpty ? nil : close.reason
    end(
      SoraError.webSocketClosed(
        statusCode: WebSocketStatusCode(rawValue: Int(close.code.rawValue)), reason: reason),
      reason:
        "signaling: the server closed the WebSocket, code \(close.code): \(reason ?? "no reason given");"
        + " check the server's log for this connection")
  }

  /// - Parameter transport: where it came from, and what is to be answered goes.
  func handle(_ message: SignalingMessage, over transport: SignalingTransport) async {
    if let line = storage.withLock({ $0.ignored.line(for: message) }) {
      Logger.info(type: .signalingChannel, message: line)
    }
    switch message {
    case .offer(let offer):
      await negotiate(SignalingOffer(offer), policy: offer.configuration?.iceTransportPolicy)
    case .reOffer(let message):
      await renegotiate(message.sdp, over: transport) { .reAnswer(ReAnswerMessage(sdp: $0)) }
    case .update(let message) where configuration.usesMultistream:
      await renegotiate(message.sdp, over: transport) { .update(UpdateMessage(sdp: $0)) }
    case .notify(let message): count(message)
    case .switched(let message): switched(message)
    default: break
    }
    tell(message)
    // After it was told: nothing is once the channel has ended.
    if case .close(let close) = message, transport == .dataChannel { closed(close) }
  }

  private func tell(_ message: SignalingMessage) {
    guard let signaling = Signaling(received: message) else { return }
    deliver { channel in
      await channel.handlers.onReceiveSignaling?(signaling)
      switch signaling {
      case .notify(let notify): channel.hub.publish(.notify(notify))
      case .push(let push): channel.hub.publish(.push(push))
      default: channel.hub.publish(.signaling(signaling))
      }
    }
  }

  /// The counters change together or not at all.
  private func count(_ message: NotifyMessage) {
    guard let all = message.channelConnections,
      let sendonly = message.channelSendonlyConnections,
      let recvonly = message.channelRecvonlyConnections,
      let sendrecv = message.channelSendrecvConnections
    else { return }
    storage.withLock { state in
      state.counts = Counts(
        all: all, publishers: sendonly &+ sendrecv, subscribers: recvonly &+ sendrecv)
    }
  }
}
