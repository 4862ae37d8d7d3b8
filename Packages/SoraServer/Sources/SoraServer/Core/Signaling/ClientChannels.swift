import SoraDataChannel
import SoraMedia
import SoraWire
import SoraSignalingChannels
import SoraSignalingMessages
import SoraTransport

/// The data channels of one client: which there are, how far they have come, and how messages stand on them. Confined to its
/// connection.
final class ClientChannels {
  /// What came of an event.
  enum News {
    /// A message on a label, with the compression taken off.
    case message(label: String, payload: [UInt8], isText: Bool)
    /// They are gone, one that signaling needs or all: nothing more can be said on them.
    case lost
  }

  /// The largest message that is inflated: the largest that a client takes.
  private let maximumMessageSize: Int
  /// Bytes that may wait for the client, by what they are.
  private let room: Room
  private let data: DataTransport
  private var channels: [ClientChannel]
  /// When all are to be closed.
  private var closingAt: Instant?
  /// Messages that weren't carried, by reason.
  private(set) var dropped = Dropped()

  /// What waits for a client shares one buffer. Others' messages leave a part of it to what the server says itself, and notifications
  /// one to signaling: who floods a label must not keep a member's next offer from it.
  private struct Room {
    let messages: Int
    let notifications: Int
    let signaling: Int

    init(_ limit: Int) {
      messages = limit / 4 * 3
      notifications = limit / 16 * 15
      signaling = limit
    }
  }

  struct Dropped {
    /// That can't be inflated, are too large, or came on a label that the client may not send on.
    var malformed = 0
    /// For which there was no room.
    var full = 0
  }

  /// - Parameters:
  ///   - channels: those of signaling, and those that the client asks for.
  ///   - configuration: of `data`.
  ///   - data: carries them.
  init(
    _ channels: [ClientChannel], _ configuration: DataChannelConfiguration, data: DataTransport
  ) {
    self.channels = channels
    maximumMessageSize = configuration.maximumMessageSize
    room = Room(configuration.sendBufferLimit)
    self.data = data
  }

  /// What `offer.data_channels` says.
  var announced: [DataChannelOptions] { channels.map(\.announced) }

  var nextDeadline: Instant? { earliest(data.nextDeadline, closingAt) }

  /// What statistics say of them.
  var report: DataReport { data.report }

  /// Whether any is there that isn't closed.
  var areOpen: Bool { channels.contains { $0.id != nil } }

  subscript(label: String) -> ClientChannel? { channels.first { $0.label == label } }

  // MARK: The way there

  /// The client has agreed to an association.
  func start(_ remote: DataTransport.Remote, at now: Instant) {
    data.negotiated(remote, at: now)
  }

  func transportChanged(at now: Instant) { data.transportChanged(at: now) }

  func receive(_ packet: RawSpan, at now: Instant) -> Bool { data.receive(packet, at: now) }

  func poll(at now: Instant) {
    if let due = closingAt, due <= now {
      closingAt = nil
      for id in channels.compactMap(\.id) { data.close(id, at: now) }
    }
    data.poll(at: now)
  }

  /// Closes every channel once what waits has been sent, at a time that `poll` waits for.
  func closeAll(at time: Instant) { closingAt = time }

  /// Ends the association.
  func end(at now: Instant) { data.close(at: now) }

  // MARK: Events

  func handle(_ event: DataChannelEvent, at now: Instant) -> News? {
    switch event {
    case .connected:
      openAll(at: now)
      return nil
    case .acknowledged(let id):
      note(id)
      return nil
    case .message(let id, let message):
      defer { data.recycle(message.payload) }
      guard let channel = channels.first(where: { $0.id == id }) else { return nil }
      note(id)
      guard let payload = inflated(message, of: channel) else { return nil }
      return .message(label: channel.label, payload: payload, isText: message.isText)
    // Clients open none: what they open is closed.
    case .announced(let id, _, _):
      data.close(id, at: now)
      return nil
    case .closing(let id):
      data.close(id, at: now)
      return nil
    case .closed(let id, _):
      guard let index = channels.firstIndex(where: { $0.id == id }) else { return nil }
      channels[index].id = nil
      return channels[index].label == SignalingLabel.signaling.rawValue || !areOpen ? .lost : nil
    case .disconnected:
      for index in channels.indices { channels[index].id = nil }
      return .lost
    case .opened, .bufferedAmountLow, .sendBufferLow: return nil
    }
  }

  private func openAll(at now: Instant) {
    for index in channels.indices {
      // Only labels and protocols that are too long are refused, and those were checked.
      channels[index].id = try? data.open(channels[index].parameters, at: now)
    }
  }

  /// Whether the client knows all channels.
  var areKnown: Bool { channels.allSatisfy { $0.isKnown && $0.id != nil } }

  private func note(_ id: DataChannelID) {
    guard let index = channels.firstIndex(where: { $0.id == id }) else { return }
    channels[index].isKnown = true
  }

  /// What was compressed is binary; a text says what it is, whatever its channel.
  private func inflated(_ message: DataChannelMessage, of channel: ClientChannel) -> [UInt8]? {
    let payload = message.payload
    guard channel.isCompressed, !message.isText else { return payload }
    do throws(ChannelMessageError) {
      return try MessageCompression.inflate(payload.rawSpan, limit: maximumMessageSize)
    } catch {
      dropped.malformed += 1
      return nil
    }
  }

  // MARK: Messages

  /// Says something on one of signaling's labels, as text.
  ///
  /// - Returns: whether it is on its way.
  @discardableResult
  func say(_ message: WrittenMessage, on label: SignalingLabel, at now: Instant) -> Bool {
    guard let channel = self[label.rawValue] else { return false }
    return send(
      message, on: channel,
      within: label == .signaling ? room.signaling : room.notifications, at: now)
  }

  /// Hands the client a message of another's on a label of its app.
  func hand(_ message: MemberMessage, on label: String, at now: Instant) {
    guard let channel = self[label], channel.direction != .sendonly else { return }
    send(
      channel.hasHeader ? message.named : message.plain, on: channel, within: room.messages, at: now
    )
  }

  /// A message that couldn't be used came.
  func countMalformed() { dropped.malformed += 1 }

  @discardableResult
  private func send(
    _ message: WrittenMessage, on channel: ClientChannel, within limit: Int, at now: Instant
  ) -> Bool {
    guard let id = channel.id else { return false }
    guard data.sendBufferUse + message.bytes.count <= limit else {
      dropped.full += 1
      return false
    }
    do {
      if channel.isCompressed {
        let stream = try message.compressed()
        try data.send(stream.rawSpan, isText: false, on: id, at: now)
      } else {
        let bytes = message.bytes
        try data.send(bytes.rawSpan, isText: message.isText, on: id, at: now)
      }
      return true
    } catch {
      dropped.full += 1
      return false
    }
  }
}
