public import SoraDataChannel
public import SoraMedia

/// The data channels of a connection, carried by its transport (RFC 8831: SCTP over DTLS over ICE).
///
/// Sans-I/O, confined to what drives the transport: a client's connection or the server's. The owner says what was negotiated and when
/// the transport can carry something, hands over what comes inside of DTLS, and calls `poll` at `nextDeadline`.
public final class DataTransport {
  public weak var delegate: (any DataTransportDelegate)?
  /// Whether events wait, and with them the peer once its window is full: for an owner whose reader is slow.
  public private(set) var isPaused = false

  private let transport: PeerTransport
  private let session: DataChannelSession
  private var remote: Remote?
  /// Guards against a delegate's calls from within.
  private var isFlushing = false

  /// What the other side's description says of its association.
  public struct Remote: Sendable, Hashable {
    /// Whether we are the DTLS client.
    public var isClient: Bool
    public var port: UInt16
    /// Bytes; 0 means any (RFC 8841 §6).
    public var maximumMessageSize: UInt64

    public init(isClient: Bool, port: UInt16, maximumMessageSize: UInt64) {
      self.isClient = isClient
      self.port = port
      self.maximumMessageSize = maximumMessageSize
    }
  }

  public init(
    configuration: DataChannelConfiguration, random: RandomSource, transport: PeerTransport
  ) {
    self.transport = transport
    session = DataChannelSession(configuration: configuration, random: random)
  }

  /// Takes what was negotiated, and begins where the transport is ready. Only the first call counts.
  public func negotiated(_ remote: Remote, at now: Instant) {
    if self.remote == nil { self.remote = remote }
    transportChanged(at: now)
  }

  /// The transport may be able to carry packets now.
  public func transportChanged(at now: Instant) {
    let size = transport.maximumDataSize
    guard let remote, size > 0 else { return }
    session.connect(
      to: DataChannelPeer(
        isClient: remote.isClient, port: remote.port,
        maximumMessageSize: remote.maximumMessageSize, maximumPacketSize: size),
      at: now)
    flush(at: now)
  }

  /// Takes a message that came inside of DTLS.
  ///
  /// - Returns: whether there is an association to take it.
  public func receive(_ packet: RawSpan, at now: Instant) -> Bool {
    guard session.isRunning else { return false }
    session.receive(packet, at: now)
    flush(at: now)
    return true
  }

  /// Lets timers run.
  public func poll(at now: Instant) {
    guard let deadline = session.nextDeadline, deadline <= now else { return }
    session.poll(at: now)
    flush(at: now)
  }

  /// When `poll` wants to be called next.
  public var nextDeadline: Instant? { session.nextDeadline }

  /// Holds events back, or lets them go on.
  public func setPaused(_ isPaused: Bool, at now: Instant) {
    guard isPaused != self.isPaused else { return }
    self.isPaused = isPaused
    flush(at: now)
  }

  // MARK: Channels

  /// Makes a channel; see `DataChannelSession.open`.
  public func open(
    _ parameters: DataChannelParameters, negotiatedStream: UInt16? = nil, at now: Instant
  ) throws(DataChannelError) -> DataChannelID {
    let id = try session.open(parameters, negotiatedStream: negotiatedStream, at: now)
    flush(at: now)
    return id
  }

  /// Sends a message on a channel that is open.
  public func send(
    _ payload: RawSpan, isText: Bool, on id: DataChannelID, at now: Instant
  ) throws(DataChannelError) {
    try session.send(payload, isText: isText, on: id, at: now)
    flush(at: now)
  }

  /// Calls several methods of the session, and sends once what follows from them: many messages, or a channel that has to be known
  /// before it is told of.
  public func batch<Result, Failure>(
    at now: Instant, _ body: (DataChannelSession) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { flush(at: now) }
    return try body(session)
  }

  /// Bytes that wait to be sent for the first time, of one channel.
  public func bufferedAmount(of id: DataChannelID) -> Int { session.bufferedAmount(of: id) }

  /// What `sendBufferLimit` bounds; see `DataChannelSession.sendBufferUse`.
  public var sendBufferUse: Int { session.sendBufferUse }

  /// Bytes of the largest message that can be sent; 0 before the other side is known, and after the end.
  public var maximumMessageSize: Int { session.maximumMessageSize }

  /// Takes back a message's bytes, to put a later one there.
  public func recycle(_ payload: consuming [UInt8]) { session.recycle(payload) }

  /// Closes a channel when all that waits on it has been sent.
  public func close(_ id: DataChannelID, at now: Instant) {
    session.close(id, at: now)
    flush(at: now)
  }

  /// Ends the association; the other side is told.
  public func close(at now: Instant) {
    session.close(at: now)
    isPaused = false
    flush(at: now)
  }

  // MARK: Statistics

  /// Channels, and what happened.
  public var report: DataReport {
    DataReport(
      channels: session.reports, statistics: session.statistics,
      association: session.associationStatistics)
  }

  // MARK: Moving on

  private func flush(at now: Instant) {
    guard !isFlushing else { return }
    isFlushing = true
    defer { isFlushing = false }
    repeat {
      while !isPaused, let event = session.nextEvent(at: now) {
        delegate?.data(self, event: event, at: now)
      }
      session.drainPackets(at: now) { transport.sendData($0, at: now) }
    } while !isPaused && session.hasEvents
  }
}

/// Takes what the data channels of a connection tell. Called on the loop that drives the transport, inside its calls.
public protocol DataTransportDelegate: AnyObject {
  func data(_ data: DataTransport, event: DataChannelEvent, at now: Instant)
}
