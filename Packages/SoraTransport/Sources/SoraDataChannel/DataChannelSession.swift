public import SoraMedia
public import SoraSCTP
import SoraWire

/// The data channels of one connection (RFC 8831, 8832) over an SCTP association of its own.
///
/// Sans-I/O: the packets of SCTP and the time go in; packets, events and the next deadline come out. After every call the owner drains
/// `nextEvent(at:)`, then `drainPackets(at:_:)`, and sets its timer to `nextDeadline`. Confined to its owner's loop.
public final class DataChannelSession {
  private enum Phase {
    /// Channels may be made; they open when the peer is known and there.
    case new
    case running(SCTPAssociation, DataChannelPeer)
    case ended
  }

  private let configuration: DataChannelConfiguration
  private let random: RandomSource
  private var phase = Phase.new
  /// What the peer and this end agreed on; nil before that.
  public private(set) var capabilities: SCTPCapabilities?
  private var table = ChannelTable()
  private var events = Ring<DataChannelEvent>()
  private var counted = DataChannelSessionStatistics()
  private var lastReport = SCTPStatistics()

  public init(configuration: DataChannelConfiguration, random: RandomSource) {
    self.configuration = configuration
    self.random = random
  }

  private var association: SCTPAssociation? {
    if case .running(let association, _) = phase { association } else { nil }
  }

  // MARK: - The association

  /// Begins the association, once the peer is known and there is a way to it. Later calls do nothing.
  public func connect(to peer: DataChannelPeer, at now: Instant) {
    guard case .new = phase else { return }
    let association = SCTPAssociation(
      configuration: configuration.association(with: peer), random: random)
    phase = .running(association, peer)
    association.connect(at: now)
  }

  /// Ends the association at once, and with it all channels; the peer is told.
  public func close(at now: Instant) {
    guard let association else {
      end(nil)
      return
    }
    association.abort("closed", at: now)
  }

  /// Whether there is an association that hasn't ended.
  public var isRunning: Bool { association != nil }

  // MARK: - Packets and time

  /// Takes a packet of the peer's. What isn't one of the association is dropped and counted.
  public func receive(_ packet: RawSpan, at now: Instant) {
    association?.receive(packet, at: now)
  }

  /// Does what is due. Afterwards `nextDeadline` is later than `now`.
  public func poll(at now: Instant) {
    association?.poll(at: now)
  }

  /// When `poll(at:)` wants to be called; `nil` if nothing is pending.
  public var nextDeadline: Instant? { association?.nextDeadline }

  /// Hands out packets, until there are none or `take` returns `false`: that packet is the first of the next call. The bytes are lent
  /// for the call of the closure, from within which no other call may be made.
  public func drainPackets(at now: Instant, _ take: (RawSpan) -> Bool) {
    switch phase {
    case .new: break
    case .running(let association, _): association.drainPackets(at: now, take)
    case .ended:
      // The ABORT, or the answer to the peer's.
      lastAssociation?.drainPackets(at: now, take)
      lastAssociation = nil
    }
  }

  private var lastAssociation: SCTPAssociation?

  /// The next event, or `nil`. Messages that nobody takes close the window that the peer has; what else the association tells waits
  /// behind them.
  public func nextEvent(at now: Instant) -> DataChannelEvent? {
    while events.isEmpty, let association, let event = association.nextEvent() {
      handle(event, of: association, at: now)
    }
    return events.popFirst()
  }

  /// Whether events are there that no packet has to be read for.
  public var hasEvents: Bool { !events.isEmpty }

  // MARK: - Channels

  /// Makes a channel, which opens when the association is there: `opened` says so, or `closed`.
  ///
  /// - Parameters:
  ///   - parameters: what it is made with.
  ///   - stream: the stream, where both ends make the channel without a word over the wire (RFC 8831 §6.5); nil has the peer told.
  ///   - now: the present time.
  public func open(
    _ parameters: DataChannelParameters, negotiatedStream stream: UInt16? = nil, at now: Instant
  ) throws(DataChannelError) -> DataChannelID {
    if case .ended = phase { throw .sessionEnded }
    guard parameters.label.utf8.count <= Int(UInt16.max),
      parameters.protocol.utf8.count <= Int(UInt16.max)
    else { throw .nameTooLong }
    if let stream, stream > ChannelTable.lastStream || table[stream] != nil {
      throw .streamInUse(stream)
    }
    let id = table.insert(
      parameters, stream: stream, isNegotiated: stream != nil, isKnownToPeer: stream != nil)
    if capabilities != nil { begin(id, at: now) }
    return id
  }

  /// Sends a message on a channel that is open.
  public func send(
    _ payload: RawSpan, isText: Bool, on id: DataChannelID, at now: Instant
  ) throws(DataChannelError) {
    guard case .running(let association, let peer) = phase, let channel = table[id],
      channel.isOpen, let stream = channel.stream
    else { throw .notOpen }
    let count = payload.byteCount
    let limit = limit(of: peer)
    guard count <= limit else { throw .messageTooLarge(count: count, limit: limit) }
    if count > 0 {
      try Self.send(
        payload, isText ? PayloadProtocol.string : PayloadProtocol.binary,
        of: channel, on: stream, over: association, at: now)
    } else {
      let placeholder: InlineArray<1, UInt8> = [0]
      try Self.send(
        placeholder.rawSpan, isText ? PayloadProtocol.emptyString : PayloadProtocol.emptyBinary,
        of: channel, on: stream, over: association, at: now)
    }
    channel.counters.messagesSent &+= 1
    channel.counters.bytesSent &+= UInt64(count)
  }

  /// Bytes of the largest message that can be sent; 0 before the peer is known, and after the end.
  public var maximumMessageSize: Int {
    if case .running(_, let peer) = phase { limit(of: peer) } else { 0 }
  }

  private func limit(of peer: DataChannelPeer) -> Int {
    peer.maximumMessageSize == 0
      ? configuration.sendBufferLimit
      : min(Int(clamping: peer.maximumMessageSize), configuration.sendBufferLimit)
  }

  private static func send(
    _ payload: RawSpan, _ ppid: UInt32, of channel: Channel, on stream: UInt16,
    over association: SCTPAssociation, at now: Instant
  ) throws(DataChannelError) {
    var options = SCTPSendOptions(
      isUnordered: !channel.parameters.isOrdered && channel.isKnownToPeer)
    switch channel.parameters.reliability {
    case .reliable: break
    case .maximumRetransmits(let count): options.maximumRetransmissions = count
    case .maximumLifetime(let milliseconds): options.lifetime = .milliseconds(milliseconds)
    }
    do throws(SCTPSendError) {
      try association.send(payload, on: stream, ppid: ppid, options: options, at: now)
    } catch {
      switch error {
      case .bufferFull(let limit): throw .bufferFull(limit: limit)
      case .messageTooLarge(let count, let limit):
        throw .messageTooLarge(count: count, limit: limit)
      case .notConnected, .empty, .noSuchStream, .streamClosing: throw .notOpen
      }
    }
  }

  /// Closes a channel when all that waits on it has been sent (RFC 8831 §6.7): `closed` says when both ends have. What comes on it
  /// meanwhile is dropped.
  public func close(_ id: DataChannelID, at now: Instant) {
    guard let channel = table[id] else { return }
    switch channel.phase {
    case .closing: return
    case .connecting: finish(id, nil)
    case .open:
      channel.phase = .closing(hasReset: false, peerHasReset: false)
      reset(id, at: now)
    }
  }

  /// Bytes that wait to be sent for the first time, of one channel.
  public func bufferedAmount(of id: DataChannelID) -> Int {
    guard let stream = table[id]?.stream else { return 0 }
    return association?.bufferedAmount(of: stream) ?? 0
  }

  /// What `sendBufferLimit` bounds: bytes that wait to be sent or acknowledged, of all channels, and 128 for each message.
  public var sendBufferUse: Int { association?.sendBufferUse ?? 0 }

  /// Sets what the amount that waits has to fall to for `bufferedAmountLow`, in bytes; at first 0.
  public func setBufferedAmountLowThreshold(_ bytes: Int, of id: DataChannelID) {
    guard let channel = table[id] else { return }
    channel.bufferedAmountLowThreshold = bytes
    if let stream = channel.stream {
      association?.setBufferedAmountLowThreshold(bytes, of: stream)
    }
  }

  /// Takes back a message's bytes, to put a later one there.
  public func recycle(_ payload: consuming [UInt8]) { association?.recycle(payload) }

  // MARK: - Statistics

  public var statistics: DataChannelSessionStatistics { counted }

  /// Of the association, also after its end; nil before it began.
  public var associationStatistics: SCTPStatistics? {
    switch phase {
    case .new: nil
    case .running(let association, _): association.statistics
    case .ended: lastReport
    }
  }

  /// The channels there are, in the order they were made.
  public var reports: [DataChannelReport] {
    table.ids.compactMap { id in
      table[id].map {
        DataChannelReport(
          id: id, parameters: $0.parameters, stream: $0.stream, state: $0.state,
          counters: $0.counters, bufferedAmount: bufferedAmount(of: id))
      }
    }
  }

  // MARK: - What the association tells

  private func handle(_ event: SCTPEvent, of association: SCTPAssociation, at now: Instant) {
    switch event {
    case .connected(let capabilities):
      self.capabilities = capabilities
      events.append(.connected(capabilities))
      for id in table.ids { begin(id, at: now) }
    case .message(let message): take(message, of: association, at: now)
    case .restarted:
      for id in table.ids { finish(id, .associationRestarted) }
    case .incomingStreamsReset(let streams):
      // An empty list stands for all.
      let ids = streams.isEmpty ? table.ids : streams.compactMap { table[$0] }
      for id in ids { peerHasReset(id, at: now) }
    case .outgoingStreamsReset(let streams):
      for id in streams.compactMap({ table[$0] }) { hasReset(id) }
    case .streamsResetFailed(let streams):
      for id in streams.compactMap({ table[$0] }) { finish(id, .resetRefused) }
    case .bufferedAmountLow(let stream):
      // What establishes a channel isn't the application's.
      if let id = table[stream], table[id]?.counters.messagesSent != 0 {
        events.append(.bufferedAmountLow(id))
      }
    case .sendBufferLow: events.append(.sendBufferLow)
    case .sendFailed: break
    case .closed: end(nil)
    case .aborted(let reason): end(reason == .byUser ? nil : reason)
    }
  }

  private func end(_ reason: SCTPAbortReason?) {
    if case .ended = phase { return }
    if let association {
      lastReport = association.statistics
      lastAssociation = association
    }
    phase = .ended
    for id in table.ids { finish(id, .associationEnded(reason)) }
    events.append(.disconnected(reason))
  }

  // MARK: - Opening

  /// Opens a channel of this end over the association.
  private func begin(_ id: DataChannelID, at now: Instant) {
    guard case .running(let association, let peer) = phase, let channel = table[id],
      case .connecting = channel.phase
    else { return }
    let limit = capabilities?.outgoingStreams ?? 0
    guard
      let stream = channel.stream
        ?? table.assignStream(id, isClient: peer.isClient, limit: limit), stream < limit
    else { return finish(id, .noStream(limit: limit)) }
    channel.phase = .open
    prepare(stream, channel, association)
    if !channel.isNegotiated {
      // Reliable and in order, whatever the channel is (RFC 8832 §6). It has room: the limit is above any name's length.
      let message = DCEPMessage.open(channel.parameters).encoded
      do throws(SCTPSendError) {
        try association.send(
          message.rawSpan, on: stream, ppid: PayloadProtocol.establishment, at: now)
      } catch {
        return finish(id, .noStream(limit: limit))
      }
    }
    counted.channelsOpened &+= 1
    events.append(.opened(id, stream: stream))
  }

  private func prepare(_ stream: UInt16, _ channel: Channel, _ association: SCTPAssociation) {
    association.setPriority(max(1, channel.parameters.priority.rawValue), of: stream)
    association.setBufferedAmountLowThreshold(channel.bufferedAmountLowThreshold, of: stream)
  }

  /// Takes a channel that the peer opens (RFC 8832 §6).
  private func accept(
    _ parameters: DataChannelParameters, on stream: UInt16, of association: SCTPAssociation,
    _ peer: DataChannelPeer, at now: Instant
  ) {
    // The DTLS client's streams are even: this end's own aren't the peer's to open.
    guard table[stream] == nil, (stream & 1 == 0) != peer.isClient,
      stream <= ChannelTable.lastStream, stream < capabilities?.outgoingStreams ?? 0
    else {
      counted.dropped.streamConflict &+= 1
      return
    }
    guard table.count < configuration.maximumChannels else {
      counted.dropped.tooManyChannels &+= 1
      // The peer's channel closes.
      try? association.resetStreams([stream], at: now)
      return
    }
    let id = table.insert(parameters, stream: stream, isNegotiated: false, isKnownToPeer: true)
    guard let channel = table[id] else { return }
    channel.phase = .open
    prepare(stream, channel, association)
    let answer = DCEPMessage.acknowledgement.encoded
    // Where too much waits already, any message of this end's says as much.
    try? association.send(
      answer.rawSpan, on: stream, ppid: PayloadProtocol.establishment, at: now)
    counted.channelsOpened &+= 1
    events.append(.announced(id, parameters, stream: stream))
  }

  // MARK: - Messages

  private func take(_ message: SCTPMessage, of association: SCTPAssociation, at now: Instant) {
    guard message.ppid != PayloadProtocol.establishment else {
      return takeEstablishment(message, of: association, at: now)
    }
    guard let id = table[message.stream], let channel = table[id] else {
      counted.dropped.unknownChannel &+= 1
      return association.recycle(message.payload)
    }
    channel.isKnownToPeer = true
    let received: DataChannelMessage
    switch message.ppid {
    case PayloadProtocol.string:
      received = DataChannelMessage(isText: true, payload: message.payload)
    case PayloadProtocol.binary:
      received = DataChannelMessage(isText: false, payload: message.payload)
    case PayloadProtocol.emptyString: received = DataChannelMessage(isText: true, payload: [])
    case PayloadProtocol.emptyBinary: received = DataChannelMessage(isText: false, payload: [])
    default:
      counted.dropped.unknownPayloadProtocol &+= 1
      return association.recycle(message.payload)
    }
    guard channel.isOpen else {
      counted.dropped.notOpen &+= 1
      return association.recycle(message.payload)
    }
    channel.counters.messagesReceived &+= 1
    channel.counters.bytesReceived &+= UInt64(received.payload.count)
    events.append(.message(id, received))
  }

  private func takeEstablishment(
    _ message: SCTPMessage, of association: SCTPAssociation, at now: Instant
  ) {
    guard case .running(_, let peer) = phase else { return }
    do throws(DCEPError) {
      switch try DCEPMessage(parsing: message.payload.rawSpan) {
      case .acknowledgement:
        if let id = table[message.stream] {
          table[id]?.isKnownToPeer = true
          events.append(.acknowledged(id))
        } else {
          counted.dropped.unknownChannel &+= 1
        }
      case .open(let parameters):
        accept(parameters, on: message.stream, of: association, peer, at: now)
      }
    } catch {
      counted.dropped.malformed &+= 1
    }
  }

  // MARK: - Closing

  /// Has the peer told that nothing more comes on a channel.
  private func reset(_ id: DataChannelID, at now: Instant) {
    guard let stream = table[id]?.stream, let association else { return }
    do throws(SCTPResetError) {
      try association.resetStreams([stream], at: now)
    } catch {
      // A peer without RFC 6525 can't be told.
      finish(id, nil)
    }
  }

  private func hasReset(_ id: DataChannelID) {
    guard case .closing(_, let peerHasReset) = table[id]?.phase else { return }
    if peerHasReset {
      finish(id, nil)
    } else {
      table[id]?.phase = .closing(hasReset: true, peerHasReset: false)
    }
  }

  private func peerHasReset(_ id: DataChannelID, at now: Instant) {
    switch table[id]?.phase {
    case .open:
      table[id]?.phase = .closing(hasReset: false, peerHasReset: true)
      events.append(.closing(id))
      reset(id, at: now)
    case .closing(let hasReset, _):
      if hasReset {
        finish(id, nil)
      } else {
        table[id]?.phase = .closing(hasReset: false, peerHasReset: true)
      }
    case .connecting, nil: break
    }
  }

  private func finish(_ id: DataChannelID, _ failure: DataChannelFailure?) {
    guard let channel = table.remove(id) else { return }
    if case .connecting = channel.phase {} else { counted.channelsClosed &+= 1 }
    events.append(.closed(id, failure))
  }
}
