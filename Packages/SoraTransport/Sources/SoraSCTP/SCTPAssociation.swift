public import SoraMedia
import SoraWire

/// One end of an SCTP association (RFC 9260), as data channels have it: one path, under DTLS.
///
/// Sans-I/O: packets and the time go in, packets, events and the next deadline come out. After every call the owner drains
/// `drainPackets(at:_:)` and `nextEvent()`, and sets its timer to `nextDeadline`. Confined to its owner's loop. No call may be made
/// from within the closure of `drainPackets`.
public final class SCTPAssociation {
  private let core: AssociationCore

  /// An end that waits for `connect` or for the peer's INIT.
  ///
  /// `random` gives tags, first TSNs and the key that state cookies are signed with.
  public init(configuration: SCTPConfiguration = SCTPConfiguration(), random: RandomSource) {
    core = AssociationCore(settings: configuration.inRange, random: random)
  }

  /// How far it is.
  public var state: SCTPAssociationState { core.publicState }

  /// What both ends can do; `nil` until it is known.
  public var capabilities: SCTPCapabilities? { core.capabilities }

  // MARK: - Beginning and end

  /// Begins: INIT is there to be sent. Both ends may do so at once (RFC 9260 §5.2.1). Later calls do nothing.
  public func connect(at now: Instant) { core.connect(at: now) }

  /// Ends the association when all that was sent is acknowledged (RFC 9260 §9.2): `closed` says so, on both sides.
  public func shutdown(at now: Instant) { core.shutdown(at: now) }

  /// Ends the association at once: the peer gets an ABORT with these words, and this end `aborted(.byUser)`.
  public func abort(_ text: String = "", at now: Instant) { core.abort(text, at: now) }

  // MARK: - Packets and time

  /// Takes one packet. What isn't one of this association is dropped and counted.
  public func receive(_ packet: RawSpan, at now: Instant) { core.receive(packet, at: now) }

  /// Does what is due. Afterwards `nextDeadline` is later than `now`.
  public func poll(at now: Instant) { core.poll(at: now) }

  /// When `poll(at:)` wants to be called; `nil` if nothing is pending.
  public var nextDeadline: Instant? { core.nextDeadline }

  /// Hands out packets, as many as may leave now, until there are none or `take` returns `false`: that packet wasn't taken and is the
  /// first of the next call. The bytes are lent for the call of the closure.
  public func drainPackets(at now: Instant, _ take: (RawSpan) -> Bool) {
    core.drainPackets(at: now, take)
  }

  /// The next event, or `nil`.
  public func nextEvent() -> SCTPEvent? { core.nextEvent() }

  // MARK: - Messages

  /// Queues a message on `stream`. Messages may be sent before the association is there; they leave when it is.
  ///
  /// - Throws: ``SCTPSendError``.
  public func send(
    _ payload: RawSpan, on stream: UInt16, ppid: UInt32,
    options: SCTPSendOptions = SCTPSendOptions(),
    at now: Instant
  ) throws(SCTPSendError) {
    try core.send(payload, on: stream, ppid: ppid, options: options, at: now)
  }

  /// Takes back a message's bytes, to put a later one there.
  public func recycle(_ payload: consuming [UInt8]) { core.recycle(payload) }

  /// Resets what this end sends on `streams`, once all that waits there has been sent (RFC 6525): the streams then count from 0. While
  /// it goes on, `send` on them throws `streamClosing`. Ends in `outgoingStreamsReset` or `streamsResetFailed`. Streams that were never
  /// used, too: so data channels are closed (RFC 8831 §6.7).
  ///
  /// - Throws: ``SCTPResetError``.
  public func resetStreams(_ streams: [UInt16], at now: Instant) throws(SCTPResetError) {
    try core.resetStreams(streams, at: now)
  }

  /// Bytes of a stream that wait to be sent for the first time.
  public func bufferedAmount(of stream: UInt16) -> Int { core.bufferedAmount(of: stream) }

  /// Bytes that wait to be sent or acknowledged, of all streams.
  public var totalBufferedAmount: Int { core.totalBufferedAmount }

  /// What `sendBufferLimit` bounds: these bytes, and 128 for each message.
  public var sendBufferUse: Int { core.sendBufferUse }

  /// Sets what `bufferedAmount` has to fall to for `bufferedAmountLow`; at first 0.
  public func setBufferedAmountLowThreshold(_ bytes: Int, of stream: UInt16) {
    core.setBufferedAmountLowThreshold(bytes, of: stream)
  }

  /// Sets a stream's weight among those that have messages, 1...65535; at first 256 (RFC 8831 §6.4: 128, 256, 512 or 1024).
  public func setPriority(_ priority: UInt16, of stream: UInt16) {
    core.setPriority(priority, of: stream)
  }

  /// What happened so far, and how the path is.
  public var statistics: SCTPStatistics { core.statistics }
}
