public import SoraMedia
public import SoraRTP
public import SoraWire

/// Whose sources an `RTCPEngine` reports about, and who does what peers ask for. Called inside the engine's calls.
public protocol RTCPEngineDelegate: AnyObject {
  /// A source that is sent; nil where there is none.
  func trackSender(ssrc: UInt32) -> RTPTrackSender?
  /// A source that is received; nil where there is none.
  func trackReceiver(ssrc: UInt32) -> RTPTrackReceiver?
  /// The stored packet that a receiver misses, and its size in bytes; nil where it isn't stored any more.
  func storedPacket(_ number: UInt16, of sender: RTPTrackSender) -> (token: PacketToken, size: Int)?
  /// A receiver misses a packet that isn't sent again: it is too old, or there is no room for it.
  func repairRefused(of number: UInt16, from sender: RTPTrackSender)
  /// The receiver of a source asks for a key frame (PLI or FIR).
  func keyFrameWanted(of sender: RTPTrackSender, at now: Instant)
  /// Something that steers the send controller came.
  func bandwidthChanged(at now: Instant)
  /// A source that was received is gone (BYE).
  func sourceEnded(ssrc: UInt32, at now: Instant)
  /// A report shows a new round-trip time.
  func roundTripChanged(to roundTrip: Duration)
  /// The peer sends from the source that reports come from (RFC 3550 §8.2).
  func sourceCollided(ssrc: UInt32)
}

extension RTCPEngineDelegate {
  public func sourceCollided(ssrc: UInt32) {}
}

/// RTCP of one transport: reads what arrives, and sends reports, requests for packets and key frames, and congestion
/// feedback when they are due. A client's session and each of a server's connections have one.
///
/// Sans-I/O and confined to its owner.
public final class RTCPEngine {
  /// RTCP that couldn't be used, by reason.
  public struct Dropped: Sendable, Equatable {
    public var malformed = 0
    /// Packets of a type that nobody here reads.
    public var unknown = 0
    /// Requests for packets or key frames of a source that isn't sent.
    public var requestOfUnknownSource = 0
  }

  public internal(set) var dropped = Dropped()
  public weak var delegate: (any RTCPEngineDelegate)?
  /// The source that reports and feedback come from where nothing is sent.
  public internal(set) var reporterSSRC: UInt32
  /// The source that feedback comes from.
  public var feedbackSSRC: UInt32
  /// Whether the peer answers reference times (RFC 3611 §4.4): who sends nothing sends them in place of sender reports, to learn its
  /// round trip. Those of the peer are answered always.
  public var sendsReferenceTime = false
  var roundTrips = RoundTripMeter()
  let controller: SendController
  private let random: RandomSource
  private let output: any RTPSessionOutput
  private let cname: String
  private let wallClock: WallClock
  private let feedback = CongestionReporter()
  private var nextReport: Instant?
  private var round = ReportRound()
  /// Reused for every request.
  private var missing: [UInt16] = []

  /// - Parameters:
  ///   - cname: the endpoint's own canonical name (RFC 7022).
  ///   - controller: reads the feedback.
  ///   - random: for its own source identifier, and to spread reports in time (RFC 3550 §6.3).
  ///   - output: takes what is to be sent.
  ///   - wallClock: the one of sender reports. Peers see only differences of what is taken from it here.
  public init(
    cname: String, controller: SendController, random: RandomSource,
    output: any RTPSessionOutput,
    wallClock: WallClock = WallClock(unixNanoseconds: 0, at: .zero)
  ) {
    self.wallClock = wallClock
    self.cname = cname
    self.controller = controller
    self.random = random
    self.output = output
    reporterSSRC = UInt32(truncatingIfNeeded: random.next()) | 1
    feedbackSSRC = reporterSSRC
  }

  /// Round-trip time of the newest report, or of whatever else measured one before the first.
  public var roundTrip: Duration? { roundTrips.current }
  /// What our own reference times have shown.
  public var referencedRoundTrips: ReferencedRoundTrips { roundTrips.referenced }

  /// Takes a round-trip time from elsewhere, such as ICE's checks. It counts until a report gives one: who only receives
  /// sends no sender reports, and where the peer doesn't answer reference times never gets one from reports.
  ///
  /// - Returns: whether it is news.
  public func note(roundTrip measured: Duration) -> Bool { roundTrips.note(measured) }

  // MARK: Congestion feedback

  /// How the peer is told what became of its packets.
  public var feedbackKind: CongestionFeedbackKind {
    get { feedback.kind }
    set { feedback.kind = newValue }
  }

  /// A packet arrived.
  ///
  /// - Parameters:
  ///   - header: the packet's.
  ///   - values: of its header extensions.
  ///   - packetCount: bytes of the plain packet.
  ///   - ecn: how its datagram was marked.
  ///   - now: the present time.
  public func noteArrival(
    _ header: RTPHeader, _ values: RTPHeaderExtensions, packetCount: Int, ecn: ECNCodepoint,
    at now: Instant
  ) {
    feedback.noteArrival(
      header, values, packetCount: packetCount, ecn: ecn, roundTrip: roundTrip, at: now)
  }

  /// A source that was received is gone.
  public func forgetArrivals(of ssrc: UInt32) { feedback.forget(ssrc: ssrc) }

  /// Sends the feedback that is due.
  public func sendFeedback(at now: Instant) {
    // Each message reports at least one packet, and the generator holds a bounded number.
    while feedback.isDue(at: now) {
      let isSent = unsafe output.sendRTCP(capacity: Self.capacity) { buffer in
        var writer = unsafe RTCPWriter(into: buffer)
        let time = wallClock.ntp(at: now).middle
        guard
          (try? feedback.write(into: &writer, sender: feedbackSSRC, reportTime: time, at: now))
            != nil
        else { return 0 }
        return writer.count
      }
      // Feedback that nobody takes must not be due for ever.
      if !isSent { return feedback.postpone(at: now) }
    }
  }

  // MARK: Requests

  /// Asks for the packets and key frames of a source that are due.
  public func sendRequests(of receiver: RTPTrackReceiver, at now: Instant) {
    if receiver.keyFrames.take(roundTrip: roundTrip, at: now) { requestKeyFrame(of: receiver) }
    missing.removeAll(keepingCapacity: true)
    receiver.collectMissing(into: &missing, at: now)
    var written = 0
    // Every pass writes at least one number of a bounded list.
    while written < missing.count {
      let before = written
      unsafe output.sendRTCP(capacity: Self.capacity) { buffer in
        var writer = unsafe RTCPWriter(into: buffer)
        guard
          let count = try? writer.nack(
            sender: feedbackSSRC, media: receiver.ssrc, missing: missing, from: written)
        else { return 0 }
        written += count
        return writer.count
      }
      if written == before { break }
      receiver.statistics.nackCount &+= 1
    }
  }

  /// Sends a PLI (RFC 4585 §6.3.1).
  public func requestKeyFrame(of receiver: RTPTrackReceiver) {
    let isSent = unsafe output.sendRTCP(capacity: 64) { buffer in
      var writer = unsafe RTCPWriter(into: buffer)
      guard
        (try? writer.pictureLossIndication(sender: feedbackSSRC, media: receiver.ssrc)) != nil
      else { return 0 }
      return writer.count
    }
    if isSent { receiver.statistics.pliCount &+= 1 }
  }

  /// Says that a source ends (RFC 3550 §6.6).
  public func sendGoodbye(of sender: RTPTrackSender) {
    let ssrc = sender.parameters.ssrc
    unsafe output.sendRTCP(capacity: 64) { buffer in
      var writer = unsafe RTCPWriter(into: buffer)
      guard (try? writer.receiverReport(sender: ssrc)) != nil,
        (try? writer.goodbye(ssrc: ssrc)) != nil
      else { return 0 }
      return writer.count
    }
  }

  // MARK: Reports

  /// Time between reports on average; RFC 3550 §6.2 with a reduced minimum, randomised by half.
  private static let reportInterval = Duration.seconds(1)
  /// An RTCP datagram at most.
  private static let capacity = 1200
  /// Report blocks in one datagram at most; the packet itself holds 31 (RFC 3550 §6.4.1).
  private static let maximumBlocks = 24
  /// A sender report without blocks.
  private static let senderReportCount = 28

  /// Whether reports are due; plans the first.
  public func areReportsDue(at now: Instant) -> Bool {
    guard let nextReport else {
      self.nextReport = now + .milliseconds(200)
      return false
    }
    return nextReport <= now
  }

  /// Sends reports about all sources, in as many datagrams as it takes. Each compound begins with a report and has a CNAME
  /// (RFC 3550 §6.1).
  ///
  /// - Parameters:
  ///   - receivers: names each source that is received.
  ///   - senders: names each source that is sent.
  ///   - now: the present time.
  ///   - info: the sender's part of a source's report; nil before it has sent.
  public func sendReports(
    receivers: ((RTPTrackReceiver) -> Void) -> Void, senders: ((RTPTrackSender) -> Void) -> Void,
    at now: Instant, info: (RTPTrackSender) -> RTCPSenderInfo?
  ) {
    let interval = Self.reportInterval.wholeNanoseconds
    nextReport = now + .nanoseconds(interval / 2 + Int64(random.next() % UInt64(interval)))
    round.blocks.removeAll(keepingCapacity: true)
    receivers { if let block = $0.makeReportBlock(at: now) { round.blocks.append(block) } }
    senders { round.senders.append($0) }
    defer { round.senders.removeAll(keepingCapacity: true) }
    var written = 0
    // The first that has sent something.
    var reporter: UInt32?
    var next = 0
    // Every pass takes at least one source, or is the last.
    repeat {
      var isWritten = false
      unsafe output.sendRTCP(capacity: Self.capacity) { buffer in
        isWritten = true
        var writer = unsafe RTCPWriter(into: buffer)
        var own = Array(
          round.blocks[written..<min(round.blocks.count, written + Self.maximumBlocks)])
        written += own.count
        var hasReport = false
        // Can't fail: the room is looked at. What fitted is whole packets, and goes.
        while next < round.senders.count {
          let sender = round.senders[next]
          let room =
            Self.senderReportCount + 12 + sender.parameters.cname.utf8.count
            + (hasReport ? 0 : 24 * own.count)
          guard writer.available >= room else { break }
          next += 1
          guard let info = info(sender),
            (try? writer.senderReport(info, blocks: own)) != nil
          else { continue }
          hasReport = true
          if reporter == nil { reporter = info.ssrc }
          own = []
          try? writer.sourceDescription(ssrc: info.ssrc, cname: sender.parameters.cname)
        }
        if !hasReport {
          try? writer.receiverReport(sender: reporterSSRC, blocks: own)
          try? writer.sourceDescription(ssrc: reporterSSRC, cname: cname)
        }
        if let reporter { appendAnswers(to: &writer, from: reporter, at: now) }
        if reporter == nil, next == round.senders.count {
          appendReferenceTime(to: &writer, at: now)
        }
        return writer.count
      }
      if !isWritten { return }
    } while next < round.senders.count || written < round.blocks.count
  }

  /// Answers the peer's reference times (RFC 3611 §4.5). Only who sends: a receiver's answer would tell nothing of a sender.
  private func appendAnswers(to writer: inout RTCPWriter, from ssrc: UInt32, at now: Instant) {
    guard roundTrips.owesAnswers else { return }
    _ = try? writer.receiverDelays(sender: ssrc, roundTrips.takeAnswers(at: now))
  }

  /// Sends a reference time of ours in place of a sender report (RFC 3611 §4.4).
  private func appendReferenceTime(to writer: inout RTCPWriter, at now: Instant) {
    let ntp = wallClock.ntp(at: now)
    guard sendsReferenceTime,
      (try? writer.receiverReferenceTime(sender: reporterSSRC, ntp: ntp)) != nil
    else { return }
    roundTrips.sent(ntp, at: now)
  }

  // MARK: Time

  /// When feedback or, with `reports`, reports are due; requests are the sources' own.
  public func nextDeadline(reports: Bool) -> Instant? {
    earliest(feedback.nextDeadline, reports ? nextReport ?? .zero : nil)
  }
}

/// What one round of reports is about. The arrays' memory serves the next.
private struct ReportRound {
  var blocks: [RTCPReportBlock] = []
  var senders: [RTPTrackSender] = []
}
