import Foundation
import SoraDataChannel
import SoraMedia
import SoraTransport

/// Connects the channels' owners with those of the core. Confined to the network loop.
final class DataChannelHub {
  private let core: PeerConnectionCore
  private let now: () -> Instant
  private let backlog: DataBacklog
  /// Makes the object of a channel that the other side has opened, and tells of it.
  var announce: ((DataChannelParameters, _ stream: UInt16) -> any DataChannelEnd)?

  private var channels: [DataChannelID: any DataChannelEnd] = [:]
  private var ids: [ObjectIdentifier: DataChannelID] = [:]
  /// Channels of which something waits.
  private var sending: Set<DataChannelID> = []
  /// Those of which the association takes no more for now.
  private var blocked: [any DataChannelEnd] = []
  /// Since when the connection takes no more, and what had been taken by then; nil while it does.
  private var stall: (since: Instant, taken: Int)?
  /// Those that the app has closed and of which something waits.
  private var closing: Set<DataChannelID> = []

  /// How long the reader of one channel may hold up all others without taking a message.
  private static let longestStall = Duration.seconds(10)

  init(core: PeerConnectionCore, backlog: DataBacklog, now: @escaping () -> Instant) {
    self.core = core
    self.backlog = backlog
    self.now = now
  }

  // MARK: What the app wants

  /// Makes a channel; it opens when there is a connection.
  func open(
    _ channel: any DataChannelEnd, _ parameters: DataChannelParameters, negotiatedStream: UInt16?
  ) {
    do throws(DataChannelError) {
      try core.openDataChannel(parameters, negotiatedStream: negotiatedStream, at: now()) { id in
        channels[id] = channel
        ids[ObjectIdentifier(channel)] = id
      }
    } catch {
      channel.update(.closed, stream: nil)
    }
  }

  /// Sends what waits in a channel's outbox.
  func flush(_ channel: any DataChannelEnd) {
    guard let id = ids[ObjectIdentifier(channel)] else { return }
    let now = now()
    core.data.batch(at: now) { session in
      while let message = channel.outbox.next() {
        do throws(DataChannelError) {
          try session.send(
            message.data.bytes, isText: message.isText, on: id, at: now)
        } catch {
          // What is too late is lost, and what waits is counted anew below.
          guard case .bufferFull = error else { continue }
          channel.outbox.putBack(message)
          blocked.append(channel)
          return
        }
      }
      if closing.remove(id) != nil { session.close(id, at: now) }
    }
    sending.insert(id)
    update(id)
  }

  /// Closes a channel behind all that waits in its outbox.
  func close(_ channel: any DataChannelEnd) {
    guard let id = ids[ObjectIdentifier(channel)] else { return }
    closing.insert(id)
    if !blocked.contains(where: { $0 === channel }) { flush(channel) }
  }

  /// The app has taken what waited.
  func resume() {
    stall = nil
    core.data.setPaused(false, at: now())
  }

  /// Tells the channels what has left since the last time, and ends one that nobody reads while others wait for it.
  func update(at now: Instant) {
    endStall(at: now)
    guard !sending.isEmpty else { return }
    for id in sending { update(id) }
  }

  private func endStall(at now: Instant) {
    guard let stall else { return }
    let taken = backlog.taken
    guard taken == stall.taken else { return self.stall = (now, taken) }
    guard now - stall.since > Self.longestStall else { return }
    self.stall = (now, taken)
    // What isn't read at once is the app's.
    let slowest = channels.values.max { $0.unread < $1.unread }
    if let slowest, slowest.unread > 0 { slowest.abandon() }
  }

  private func update(_ id: DataChannelID) {
    guard let channel = channels[id] else {
      sending.remove(id)
      return
    }
    let left = core.data.bufferedAmount(of: id)
    channel.update(handed: left)
    if left == 0, channel.outbox.amount == 0 { sending.remove(id) }
  }

  private func pause() {
    let now = now()
    if stall == nil { stall = (now, backlog.taken) }
    core.data.setPaused(true, at: now)
  }

  // MARK: What the core tells

  func handle(_ event: DataChannelEvent) {
    switch event {
    case .connected, .disconnected: break
    case .announced(let id, let parameters, let stream):
      guard let channel = announce?(parameters, stream) else { return }
      channel.outbox.setMessageLimit(core.data.maximumMessageSize)
      channels[id] = channel
      ids[ObjectIdentifier(channel)] = id
    case .opened(let id, let stream):
      channels[id]?.outbox.setMessageLimit(core.data.maximumMessageSize)
      channels[id]?.update(.open, stream: stream)
    case .message(let id, let message):
      guard let channel = channels[id] else { return }
      let isFull = channel.receive(
        DataMessage(data: Data(message.payload), isText: message.isText))
      core.data.recycle(message.payload)
      if isFull { pause() }
    case .acknowledged: break
    case .bufferedAmountLow(let id): update(id)
    case .sendBufferLow:
      let waiting = blocked
      blocked = []
      for channel in waiting { flush(channel) }
    case .closing(let id): channels[id]?.update(.closing, stream: nil)
    case .closed(let id, _):
      guard let channel = channels.removeValue(forKey: id) else { return }
      ids[ObjectIdentifier(channel)] = nil
      sending.remove(id)
      closing.remove(id)
      channel.update(.closed, stream: nil)
    }
  }

  /// The connection is closed: so are all channels (W3C webrtc §4.4.2, `close`).
  func end() {
    for channel in channels.values { channel.update(.closed, stream: nil) }
    channels = [:]
    ids = [:]
    sending = []
    blocked = []
    closing = []
  }
}
