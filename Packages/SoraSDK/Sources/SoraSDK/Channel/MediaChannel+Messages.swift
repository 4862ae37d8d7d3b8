import Foundation
import SoraClock
import SoraSignaling
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
    case .message(let message): await handle(message)
    case .undecodable(_, let error):
      Logger.warn(type: .signalingChannel, message: "a message was ignored: \(error)")
    case .closed(let close): closed(close)
    case .failed(let error): end(SoraError(error), reason: error.description)
    }
  }

  /// The WebSocket ended after the offer.
  private func closed(_ close: WebSocketClose) {
    if let error = close.error {
      return end(SoraError.webSocketError(error), reason: error.description)
    }
    let isConnected = storage.withLock { $0.phase } == .connected
    if close.code == .normal, isConnected { return end(nil, reason: nil, in: [.connected]) }
    let reason = close.reason.isEmpty ? nil : close.reason
    end(
      SoraError.webSocketClosed(
        statusCode: WebSocketStatusCode(rawValue: Int(close.code.rawValue)), reason: reason),
      reason:
        "signaling: the server closed the WebSocket, code \(close.code): \(reason ?? "no reason given");"
        + " check the server's log for this connection")
  }

  private func handle(_ message: SignalingMessage) async {
    switch message {
    case .offer(let offer):
      await negotiate(SignalingOffer(offer), policy: offer.configuration?.iceTransportPolicy)
    case .reOffer(let message):
      await renegotiate(message.sdp) { .reAnswer(ReAnswerMessage(sdp: $0)) }
    case .update(let message) where configuration.usesMultistream:
      await renegotiate(message.sdp) { .update(UpdateMessage(sdp: $0)) }
    case .notify(let message): count(message)
    case .switched, .unknown:
      // Data channels are not there yet, so signaling stays on the WebSocket as long as it is open.
      Logger.info(type: .signalingChannel, message: "\(message.typeName) has no effect")
    default: break
    }
    guard let signaling = Signaling(received: message) else { return }
    deliver { channel in
      channel.handlers.onReceiveSignaling?(signaling)
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
