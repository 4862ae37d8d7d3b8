import Dispatch
import Foundation
import SoraSignaling
import SoraSignalingChannels
import Synchronization
import WebRTC

extension MediaChannel {
  /// What the tasks that read data channels hand to the channel's task.
  enum ChannelInput: Sendable {
    /// A message of signaling's, with the bytes that it was read from.
    case message(SignalingMessage, label: String, payload: [UInt8])
    /// A channel is closed, and all that came on it was handed over before.
    case closed(label: String)
    /// The switch has waited long enough for channels that aren't open.
    case switchIsDue
  }

  /// How long a switch waits for channels of the offer that aren't open yet.
  private static let switchPatience = DispatchTimeInterval.seconds(3)
  /// How long an end that is seen on a data channel waits for what says more of it: a code, on signaling's or on the WebSocket.
  private static let endPatience = DispatchTimeInterval.seconds(1)

  func handle(_ input: ChannelInput) async {
    switch input {
    case .message(let message, let label, let payload):
      await handle(message, over: .dataChannel)
      deliver(payload, as: nil, label: label)
    case .closed(let label): channelClosed(label)
    case .switchIsDue: completeSwitch()
    }
  }

  /// Says something to the server over one transport; where that isn't there any more, over the other.
  func say(_ message: SignalingMessage, over transport: SignalingTransport) {
    let client = storage.withLock { $0.client }
    switch transport {
    case .webSocket:
      if client?.send(message) != true { dataChannels.say(message.json, on: .signaling) }
    case .dataChannel:
      if !dataChannels.say(message.json, on: .signaling) { client?.send(message) }
    }
  }

  // MARK: Switching

  /// The server signals over data channels from now on.
  func switched(_ message: SwitchedMessage) {
    guard dataChannels.areAnnounced else {
      return Logger.warn(
        type: .dataChannel, message: "switched was ignored: the offer had no data channels")
    }
    let isFirst = storage.withLock {
      $0.route.switched(ignoresWebSocket: message.ignoreDisconnectWebSocket)
    }
    guard isFirst else { return }
    completeSwitchIfOpen()
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.switchPatience) { [input] in
      input.yield(.channel(.switchIsDue))
    }
  }

  private func completeSwitchIfOpen() {
    if dataChannels.areAllOpen { completeSwitch() }
  }

  private func completeSwitch() {
    guard let ignoresWebSocket = storage.withLock({ $0.route.complete() }) else { return }
    if !dataChannels.areAllOpen {
      Logger.warn(type: .dataChannel, message: "not all data channels of the offer are open")
    }
    dataChannels.switched()
    // What came over the WebSocket before has been answered by now, so that nothing has to wait for a close.
    if ignoresWebSocket, dataChannels.isOpen(.signaling) {
      storage.withLock { $0.client }?.close()
    }
    deliver { channel in
      await channel.handlers.onDataChannel?(channel)
      channel.hub.publish(.dataChannelsOpened)
    }
  }

  // MARK: Channels

  /// The server has opened a channel: it is read from now on.
  func opened(_ channel: RTCDataChannel) {
    guard let announced = dataChannels.adopt(channel) else {
      return Logger.warn(
        type: .dataChannel, message: "one data channel too many was closed: \(channel.label)")
    }
    let label = SignalingLabel(rawValue: channel.label)
    if label == nil, !SignalingLabel.isMessaging(channel.label) {
      Logger.warn(
        type: .dataChannel, message: "the data channel \(channel.label) has no meaning to this SDK")
    }
    let inbox = dataChannels.inbox(channel.label)
    Task { [weak self] in
      for await buffer in channel.messages {
        guard let self else { return }
        await inbox.backlog.waitForRoom()
        do throws(ChannelMessageError) {
          let payload = try announced.unpack(Array(buffer.data))
          await received(payload, isText: !buffer.isBinary, label: label, on: announced)
        } catch {
          Logger.warn(
            type: .dataChannel,
            message:
              "a message of \(buffer.data.count) bytes on \(channel.label) was ignored: \(error)")
        }
      }
      guard let self else { return }
      dataChannels.closed(channel.label)
      input.yield(.channel(.closed(label: channel.label)))
    }
    completeSwitchIfOpen()
  }

  /// On the task that reads the channel. What is on its way to the app counts against the channel's backlog.
  private func received(
    _ payload: [UInt8], isText: Bool, label: SignalingLabel?, on channel: AnnouncedChannel
  ) async {
    let inbox = dataChannels.inbox(channel.label)
    let cost = payload.count + MessageBacklog.overhead
    inbox.backlog.add(cost)
    do throws(SignalingError) {
      switch label {
      case .signaling?, .notify?, .push?:
        let message = try SignalingMessage(parsing: payload)
        input.yield(.channel(.message(message, label: channel.label, payload: payload)))
        return
      case .stats?: try await answerStats(payload)
      case .rpc?: try answered(payload)
      case nil: break
      }
    } catch {
      inbox.backlog.remove(cost)
      return Logger.warn(
        type: .dataChannel, message: "a message on \(channel.label) was ignored: \(error)")
    }
    var message: DataChannelMessage?
    if SignalingLabel.isMessaging(channel.label) {
      message = DataChannelMessage(payload, isText: isText, on: channel)
      if let message {
        inbox.publish(message)
      } else {
        Logger.warn(
          type: .dataChannel, message: "a message on \(channel.label) doesn't say who sent it")
      }
    }
    deliver(payload, as: message, label: channel.label)
  }

  private func answerStats(_ payload: [UInt8]) async throws(SignalingError) {
    guard case .reqStats = try SignalingMessage(parsing: payload) else { return }
    let reports = await statistics().json
    dataChannels.say(SignalingMessage.stats(StatsMessage(reports: reports)).json, on: .stats)
  }

  private func answered(_ payload: [UInt8]) throws(SignalingError) {
    let json = try JSONValue(parsing: payload)
    guard let response = SoraSignalingChannels.RPCResponse(json: json) else {
      return Logger.warn(type: .dataChannel, message: "a message on rpc is no answer to a call")
    }
    if !calls.received(response) {
      Logger.debug(type: .dataChannel, message: "nobody waits for an answer that came on rpc")
    }
  }

  /// To `onDataChannelMessage` with all bytes, and to `events` as the app's message that it is.
  private func deliver(_ payload: [UInt8], as message: DataChannelMessage?, label: String) {
    let backlog = dataChannels.inbox(label).backlog
    deliver { channel in
      await channel.handlers.onDataChannelMessage?(channel, label, Data(payload))
      if let message { channel.hub.publish(.message(message)) }
      backlog.remove(payload.count + MessageBacklog.overhead)
    }
  }

  // MARK: Ends

  /// The server ends the connection, and says why.
  func closed(_ message: CloseMessage) {
    let event = SoraCloseEvent.ok(code: message.code, reason: message.reason)
    guard message.code != WebSocketStatusCode.normal.intValue() else {
      return end(nil, reason: nil, as: event)
    }
    end(
      SoraError.dataChannelClosed(statusCode: message.code, reason: message.reason),
      reason:
        "signaling: the server closed the connection over its data channel, code \(message.code):"
        + " \(message.reason); check the server's log for this connection",
      as: event)
  }

  /// A data channel is closed, which is the connection's end.
  private func channelClosed(_ label: String) {
    let (phase, peer, route) = storage.withLock { ($0.phase, $0.peer, $0.route) }
    // Of a connection that failed, its error tells.
    guard phase == .connected, peer?.connectionState == .connected else { return }
    Logger.info(type: .dataChannel, message: "the server closed the data channel \(label)")
    // On signaling's own, everything that was said has been read.
    if label == SignalingLabel.signaling.rawValue, !route.isWebSocketOpen {
      return end(nil, reason: nil, in: [.connected])
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.endPatience) { [weak self] in
      self?.end(nil, reason: nil, in: [.connected])
    }
  }
}
