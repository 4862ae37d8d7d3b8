public import SoraMedia
public import SoraRTP

/// One source that is received: counts, requests for what is missing, retransmissions, reports, and requests for key frames.
///
/// A client's `RTPReceiveStream` adds a jitter buffer to one; a server's published track forwards what comes. Confined to
/// its owner.
public final class RTPTrackReceiver {
  /// Feedback that was sent about the source; names of W3C `RTCInboundRtpStreamStats`.
  public struct Statistics: Sendable, Equatable {
    public var nackCount: UInt64 = 0
    public var pliCount: UInt64 = 0
  }

  public let kind: MediaKind
  public let ssrc: UInt32
  public internal(set) var statistics = Statistics()
  public private(set) var received: ReceiveStatistics
  public private(set) var senderReports: SenderReportTracker
  public private(set) var remoteClock = RemoteClock()
  /// Whether lost packets are asked for.
  public var sendsNack: Bool
  public var keyFrames = KeyFrameRequests()
  private var nack = NackGenerator()
  /// Losses that were given up, as far as `takeLosses` told of them.
  private var givenUp: UInt64 = 0

  public init(kind: MediaKind, ssrc: UInt32, clockRate: Int, sendsNack: Bool) {
    self.kind = kind
    self.ssrc = ssrc
    self.sendsNack = sendsNack
    received = ReceiveStatistics(ssrc: ssrc, clockRate: clockRate)
    senderReports = SenderReportTracker(clockRate: clockRate)
  }

  /// What became of lost packets.
  public var nackStatistics: NackGenerator.Statistics { nack.statistics }

  // MARK: Packets

  /// A packet of the source arrived.
  public func receive(_ header: RTPHeader, packetCount: Int, at now: Instant) {
    if sendsNack, nack.received(sequenceNumber: header.sequenceNumber, at: now) {
      // Sent again as it was: what the network lost stays lost in reports.
      received.receivedRepair(header, packetCount: packetCount, at: now)
    } else {
      received.received(header, packetCount: packetCount, at: now)
    }
  }

  /// Says how lost packets come, and for how long they are of use.
  ///
  /// - Parameters:
  ///   - inPlace: they are sent again as they were, instead of in a stream of their own.
  ///   - longestUse: from when they are missed; nil where something else tells what isn't needed any more.
  public func setRepair(inPlace: Bool, longestUse: Duration?) {
    nack.repairsInPlace = inPlace
    nack.longestUse = longestUse
  }

  /// A packet of its retransmissions arrived.
  ///
  /// - Parameters:
  ///   - header: the packet's header.
  ///   - packet: all of it, lent for the call.
  ///   - payloadType: of the original.
  ///   - now: the present time.
  /// - Returns: the header of the packet inside; nil where there is none, as in padding.
  public func receiveRetransmission(
    _ header: RTPHeader, in packet: UnsafeRawBufferPointer, payloadType: UInt8, at now: Instant
  ) -> RTPHeader? {
    guard
      let restored = unsafe SoraRTP.Retransmission.restore(
        header, in: packet, ssrc: ssrc, payloadType: payloadType)
    else { return nil }
    received.receivedRepair(restored, packetCount: packet.count, at: now)
    nack.received(sequenceNumber: restored.sequenceNumber, isRetransmission: true, at: now)
    return restored
  }

  /// A packet was made anew from repair packets: it isn't asked for any more, and stays lost in reports.
  func recovered(_ number: UInt16, at now: Instant) {
    nack.received(sequenceNumber: number, isRetransmission: true, at: now)
  }

  /// Nobody waits for packets before this one any more.
  public func discardMissing(before number: UInt16) { nack.discard(before: number) }

  /// What the losses since the last call want.
  public enum Loss: Sendable, Hashable {
    case none
    /// Packets were given up: what needs them can't be decoded.
    case givenUp
    /// So much is missing that only a key frame helps.
    case keyFrameNeeded
  }

  public func takeLoss() -> Loss {
    if nack.keyFrameNeeded {
      nack.keyFrameNeeded = false
      givenUp = nack.statistics.givenUp
      return .keyFrameNeeded
    }
    guard nack.statistics.givenUp > givenUp else { return .none }
    givenUp = nack.statistics.givenUp
    return .givenUp
  }

  // MARK: Reports

  /// The source's sender reports.
  public func receive(_ report: RTCPSenderInfo, roundTrip: Duration?, at now: Instant) {
    senderReports.received(report, at: now)
    remoteClock.received(report.ntp, at: now, roundTrip: roundTrip)
  }

  /// The block for the next report; nil before the first packet.
  public func makeReportBlock(at now: Instant) -> RTCPReportBlock? {
    received.makeReportBlock(senderReports: senderReports, at: now)
  }

  // MARK: Time

  public func setRoundTrip(_ roundTrip: Duration) { nack.setRoundTrip(roundTrip) }

  /// Appends the numbers to ask for now.
  func collectMissing(into numbers: inout [UInt16], at now: Instant) {
    guard sendsNack, let due = nack.nextDeadline, due <= now else { return }
    nack.collect(into: &numbers, at: now)
  }

  /// When something of this source is to be asked for.
  public func nextDeadline(roundTrip: Duration?) -> Instant? {
    earliest(sendsNack ? nack.nextDeadline : nil, keyFrames.deadline(roundTrip: roundTrip))
  }
}
