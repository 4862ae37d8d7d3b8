import Foundation
import SoraSignaling
import SoraSignalingChannels
import Synchronization
import WebRTC

/// The data channels of one connection: which the offer lists, which are open, and who waits for them. Safe from any thread.
final class DataChannels: Sendable {
  private struct State: Sendable {
    /// Whether there is an offer.
    var isOffered = false
    /// nil where the offer has none.
    var announced: [String: AnnouncedChannel]?
    var channels: [String: RTCDataChannel] = [:]
    var inboxes: [String: LabelInbox] = [:]
    var isSwitched = false
    var isEnded = false
    var lastWaiter = 0
    var waiters: [Int: Waiter] = [:]
  }

  private struct Waiter: Sendable {
    let isOver: @Sendable (borrowing State) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  /// A server that opens more has them closed.
  private static let mostChannels = 256

  private let state = Mutex(State())

  // MARK: What there is

  /// What the offer says; nil where it has no data channels.
  func announce(_ options: [DataChannelOptions]?) {
    change { state in
      state.isOffered = true
      state.announced = options.map { options in
        Dictionary(
          options.map { ($0.label, AnnouncedChannel($0)) }, uniquingKeysWith: { first, _ in first })
      }
    }
  }

  /// Whether the offer has any, perhaps none but those of signaling.
  var areAnnounced: Bool { state.withLock { $0.announced != nil } }

  /// Whether every channel of the offer is open.
  var areAllOpen: Bool {
    state.withLock { state in
      state.announced?.keys.allSatisfy { state.channels[$0]?.readyState == .open } ?? false
    }
  }

  /// Takes a channel that the server has opened.
  ///
  /// - Returns: what is known of it; nil where it was closed again, because there is one of its name or there are too many.
  func adopt(_ channel: RTCDataChannel) -> AnnouncedChannel? {
    let label = channel.label
    let announced = change { state -> AnnouncedChannel? in
      guard !state.isEnded, state.channels[label] == nil,
        state.channels.count < Self.mostChannels
      else { return nil }
      state.channels[label] = channel
      return state.announced?[label] ?? AnnouncedChannel(label: label)
    }
    if announced == nil { channel.close() }
    return announced
  }

  /// A channel is closed and read to its end.
  func closed(_ label: String) { change { $0.channels[label] = nil } }

  /// Messages can be sent.
  func switched() { change { $0.isSwitched = true } }

  /// The connection has ended.
  func end() {
    let inboxes = change { state in
      state.isEnded = true
      state.channels = [:]
      return Array(state.inboxes.values)
    }
    for inbox in inboxes { inbox.end() }
  }

  /// Where messages of a label wait for the app.
  func inbox(_ label: String) -> LabelInbox {
    let (inbox, isEnded) = state.withLock { state in
      let inbox = state.inboxes[label] ?? LabelInbox()
      state.inboxes[label] = inbox
      return (inbox, state.isEnded)
    }
    if isEnded { inbox.end() }
    return inbox
  }

  // MARK: Sending

  /// Says something on one of signaling's labels: as text, where it isn't compressed.
  ///
  /// - Returns: whether it is on its way.
  @discardableResult
  func say(_ json: JSONValue, on label: SignalingLabel) -> Bool {
    let (channel, announced) = state.withLock { state in
      (state.channels[label.rawValue], state.announced?[label.rawValue])
    }
    guard let channel,
      let bytes = try? (announced ?? AnnouncedChannel(label: label.rawValue)).pack(json.bytes)
    else { return false }
    let isCompressed = announced?.isCompressed ?? false
    return channel.sendData(RTCDataBuffer(data: Data(bytes), isBinary: isCompressed))
  }

  /// Whether one of signaling's labels is open.
  func isOpen(_ label: SignalingLabel) -> Bool {
    state.withLock { $0.channels[label.rawValue]?.readyState == .open }
  }

  /// A channel of the app's, and what goes out on it for a message.
  ///
  /// - Throws: `SoraError.messagingError`: the first of the conditions that isn't met.
  func outgoing(
    _ data: Data, isText: Bool, on label: String
  ) throws(SoraError) -> (RTCDataChannel, RTCDataBuffer) {
    let (isSwitched, announced, channel) = state.withLock { state in
      (state.isSwitched, state.announced?[label], state.channels[label])
    }
    guard isSwitched else {
      throw .messagingError(
        reason: "data channels are not in use, or not yet: they are from onDataChannel on,"
          + " where Configuration.dataChannelSignaling is true and the server agrees")
    }
    guard SignalingLabel.isMessaging(label) else {
      throw .messagingError(
        reason: "label \(label) is not an app's own: labels of apps begin with #")
    }
    guard let channel else {
      throw .messagingError(
        reason: "there is no data channel \(label): ask for it with Configuration.dataChannels")
    }
    guard channel.readyState == .open else {
      throw .messagingError(reason: "the data channel \(label) is \(channel.readyState)")
    }
    let known = announced ?? AnnouncedChannel(label: label)
    guard known.direction != .recvonly else {
      throw .messagingError(
        reason: "the data channel \(label) is recvonly: this side may not send on it")
    }
    guard known.isCompressed else { return (channel, RTCDataBuffer(data: data, isBinary: !isText)) }
    do {
      return (channel, RTCDataBuffer(data: Data(try known.pack(Array(data))), isBinary: true))
    } catch {
      throw .messagingError(
        reason: "a message of \(data.count) bytes can't be compressed: \(error)")
    }
  }

  // MARK: Waiting

  /// Waits until a label can be sent on.
  ///
  /// - Throws: `SoraError.messagingError` where that won't be, `CancellationError`.
  func ready(_ label: String) async throws {
    await wait { state in
      if state.isEnded { return true }
      if state.isOffered, state.announced?[label] == nil { return true }
      return state.isSwitched && state.channels[label]?.readyState == .open
    }
    try Task.checkCancellation()
    let (isEnded, isThere) = state.withLock { ($0.isEnded, $0.channels[label] != nil) }
    guard isThere, !isEnded else {
      throw SoraError.messagingError(
        reason: isEnded
          ? "the channel has ended"
          : "the server's offer has no data channel \(label): ask for it with Configuration.dataChannels"
      )
    }
  }

  /// Waits until what was sent has left, so that a farewell on another channel doesn't overtake it.
  func drained() async {
    while state.withLock({ state in
      !state.isEnded && state.channels.values.contains { $0.bufferedAmount > 0 }
    }) {
      // Of the channels nobody tells: their delegate would take the messages that are read.
      do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
    }
  }

  /// Waits until the server has closed all channels.
  func allClosed() async { await wait { $0.isEnded || $0.channels.isEmpty } }

  private func wait(until isOver: @escaping @Sendable (borrowing State) -> Bool) async {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          let isReady = Task.isCancelled || isOver(state)
          if !isReady { state.waiters[id] = Waiter(isOver: isOver, continuation: continuation) }
          return isReady
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
    }
  }

  /// Changes the state, and tells those whose wait is over.
  @discardableResult
  private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
    let (value, over) = state.withLock { state in
      let value = body(&state)
      var over: [CheckedContinuation<Void, Never>] = []
      for (id, waiter) in state.waiters where waiter.isOver(state) {
        over.append(waiter.continuation)
        state.waiters[id] = nil
      }
      return (value, over)
    }
    for continuation in over { continuation.resume() }
    return value
  }
}
