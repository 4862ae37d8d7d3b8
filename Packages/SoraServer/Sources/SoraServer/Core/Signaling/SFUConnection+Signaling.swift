import SoraDTLS
import SoraDataChannel
import SoraMedia
import SoraSignalingChannels
import SoraSignalingMessages
import SoraTransport

// What this client is told, and what it says over data channels.
extension SFUConnection {
  /// Tells the client something, on the way that it is spoken to.
  func tell(_ output: SFUOutput, at now: Instant) {
    if output.isNotification, request.grant.settings.signalingNotify == false { return }
    switch signaling.way(of: output) {
    case .webSocket: core.emit(output, to: signaling.peer)
    case .channel(let channels, let label):
      guard let message = core.written(output) else { return }
      channels.say(message, on: label, at: now)
    case .none: break
    }
  }

  /// Says that the connection ends: by the WebSocket's close frame; where the client does without one, by `close` on the data channel. It may
  /// be closing the WebSocket just now, and not read it any more.
  ///
  /// - Parameter close: nil where the client can't be told any more.
  /// - Returns: whether it was said on the data channel.
  func tellEnd(_ close: SFUClose?, at now: Instant) -> Bool {
    guard let close else { return false }
    if signaling.hasWebSocket { core.emit(.close(close), to: signaling.peer) }
    // Who has said `disconnect` waits for the channels to close, not for a word.
    let needsWord = !signaling.hasWebSocket || signaling.ignoresWebSocket
    guard signaling.isSwitched, needsWord, close != .disconnect else { return false }
    return signaling.channels?.say(
      WrittenMessage(.close(CloseMessage(code: Int(close.code), reason: close.reason))),
      on: .signaling, at: now) ?? false
  }

  /// Says `switched` where that is due.
  func switchWhereDue(at now: Instant) {
    guard signaling.takeSwitch(isNegotiating: exchange.answerBy != nil) else { return }
    core.emit(
      .switched(ignoresDisconnectWebSocket: signaling.ignoresWebSocket), to: signaling.peer)
  }

  /// The answer to the first offer says what becomes of data channels.
  func start(_ remote: SFUAnswer.Data?, over transport: SFUAnswer.Transport, at now: Instant) {
    guard let remote else { return signaling.giveUpChannels() }
    signaling.channels?.start(
      DataTransport.Remote(
        isClient: transport.localRole == .client, port: remote.port,
        maximumMessageSize: remote.maximumMessageSize),
      at: now)
  }

  // MARK: What is said over data channels

  private func take(_ payload: [UInt8], isText: Bool, on label: String, at now: Instant) {
    switch SignalingLabel(rawValue: label) {
    case .signaling, .stats: takeSignaling(payload, at: now)
    case .rpc: answerCall(payload, at: now)
    case .notify, .push: signaling.channels?.countMalformed()
    case nil: channel.distribute(payload, isText: isText, on: label, of: self, at: now)
    }
  }

  private func takeSignaling(_ payload: [UInt8], at now: Instant) {
    do throws(SignalingError) {
      let message = try SignalingMessage(parsing: payload)
      ignored(message.unknownKeys)
      receive(SFUMessage(message), at: now)
    } catch {
      receive(.malformed(error.shortText), at: now)
    }
  }

  private func answerCall(_ payload: [UInt8], at now: Instant) {
    let response: RPCResponse
    do throws(RPCError) {
      let request = try RPCRequest(parsing: payload)
      let result: Result<JSONValue, RPCError>
      if signaling.calls.take(payload.count, at: now) {
        result = call(request, at: now)
      } else {
        dropped.callBudget += 1
        result = .failure(.tooManyCalls)
      }
      guard let id = request.id else { return }
      response = RPCResponse(result, id: id)
    } catch {
      response = RPCResponse(.failure(error), id: .null)
    }
    signaling.channels?.say(WrittenMessage(response.json), on: .rpc, at: now)
  }
}

extension RPCError {
  /// JSON-RPC 2.0 §5.1 leaves -32000 to -32099 to servers.
  fileprivate static var tooManyCalls: RPCError {
    RPCError(code: -32_000, message: "too many calls: wait, and call again")
  }
}

extension SFUConnection: DataTransportDelegate {
  func data(_ data: DataTransport, event: DataChannelEvent, at now: Instant) {
    guard let channels = signaling.channels else { return }
    let news = channels.handle(event, at: now)
    if isEnded {
      if !channels.areOpen { channelsClosed(at: now) }
      return
    }
    if case .message(let label, let payload, let isText)? = news {
      take(payload, isText: isText, on: label, at: now)
    }
    if case .lost? = news {
      // Before it has switched the WebSocket does for both.
      if signaling.isSwitched { end(.lost("DATA-CHANNEL-LOST"), at: now) }
      return
    }
    if channels.areKnown { signaling.becameReady() }
    if !isEnded { switchWhereDue(at: now) }
  }
}
