public import SoraMedia
public import SoraRTP
public import SoraWire

/// One source that is sent: its place towards its receiver, its retransmissions (RFC 4588), its reports, and what the
/// receiver says of it.
///
/// A client's `RTPSendStream` cuts frames into one's packets; a server's forwarded track fills one with another's packets.
/// Confined to its owner.
public final class RTPTrackSender {
  /// Counters with the names of W3C `RTCOutboundRtpStreamStats`.
  public struct Statistics: Sendable, Equatable {
    public var packetsSent: UInt64 = 0
    public var packetsSentWithECT1: UInt64 = 0
    /// Payload bytes, headers and padding left out.
    public var bytesSent: UInt64 = 0
    public var headerBytesSent: UInt64 = 0
    public var retransmittedPacketsSent: UInt64 = 0
    public var retransmittedBytesSent: UInt64 = 0
    /// Stored packets sent again to fill probes, and their payload bytes; not among the retransmissions.
    public var paddingPacketsSent: UInt64 = 0
    public var paddingBytesSent: UInt64 = 0
    /// Repair packets, and the bytes of their payloads.
    public var fecPacketsSent: UInt64 = 0
    public var fecBytesSent: UInt64 = 0
    public var framesSent: UInt64 = 0
    public var keyFramesSent: UInt64 = 0
    public var nackCount: UInt64 = 0
    public var pliCount: UInt64 = 0
    public var firCount: UInt64 = 0
    /// Time that packets spent in the pacer, summed.
    public var totalPacketSendDelay: Duration = .zero
    /// Packets that were to leave and never did: the transport wasn't writable, or the pacer was full.
    public var packetsDropped: UInt64 = 0
    /// Frames that couldn't be cut: empty, or too large for a format without fragments.
    public var framesDropped: UInt64 = 0
    /// Packets asked for that aren't known any more, or are too old to be of use.
    public var retransmissionsMissing: UInt64 = 0
  }

  /// What the receiver last reported.
  public struct RemoteReport: Sendable, Equatable {
    public var fractionLost = 0.0
    public var packetsLost: Int64 = 0
    /// The highest sequence number that has come, extended to 32 bits.
    public var highestNumber: UInt32 = 0
    /// Seconds.
    public var jitter = 0.0
    public var roundTrip: Duration?
    public var reports: UInt64 = 0
  }

  /// How a source is sent.
  public struct Parameters: Sendable {
    public var kind: MediaKind
    public var ssrc: UInt32
    /// The source and payload type of retransmissions; nil where they weren't negotiated.
    public var rtx: (ssrc: UInt32, payloadType: UInt8)?
    public var mid: RTPExtensionText?
    public var rid: RTPExtensionText?
    public var extensions: RTPHeaderExtensionMap
    public var clockRate: Int
    public var acceptsNack: Bool
    /// RTCP's name of whom the source belongs to.
    public var cname: String
    /// Whether packets are sent again as they were where there is no stream for retransmissions.
    public var repeatsPackets = false

    public init(
      kind: MediaKind, ssrc: UInt32, rtx: (ssrc: UInt32, payloadType: UInt8)?,
      mid: RTPExtensionText?, rid: RTPExtensionText? = nil,
      extensions: RTPHeaderExtensionMap = RTPHeaderExtensionMap(), clockRate: Int,
      acceptsNack: Bool = false, cname: String
    ) {
      self.kind = kind
      self.ssrc = ssrc
      self.rtx = rtx
      self.mid = mid
      self.rid = rid
      self.extensions = extensions
      self.clockRate = clockRate
      self.acceptsNack = acceptsNack
      self.cname = cname
    }
  }

  /// Why a packet leaves.
  public enum Sending: Sendable { case first, retransmission, padding }

  /// A packet that isn't sent again is of no use to a receiver after this time: frames that are so late aren't shown.
  public static let longestUse = Duration.seconds(1)

  @safe @exclusivity(unchecked) public var parameters: Parameters
  // What every packet needs of them: a use of the public property itself, in another module, is checked for overlapping access.
  public var ssrc: UInt32 { parameters.ssrc }
  public var extensions: RTPHeaderExtensionMap { parameters.extensions }
  public var statistics: Statistics { counters }
  /// Internal, so that the compiler sees every use and need not check each count for overlapping access.
  @safe @exclusivity(unchecked) var counters = Statistics()
  public private(set) var remote = RemoteReport()
  private let numbers: SentNumbers
  /// The number of the next retransmission.
  var rtxNumber: UInt16
  /// The newest reports that left, as report blocks refer to them.
  private var reports: (ReportMark?, ReportMark?) = (nil, nil)
  private var firNumber: UInt8?
  private var packetCount: UInt32 = 0
  private var octetCount: UInt32 = 0
  /// The mid rides along until the receiver has shown that it knows the source (RFC 8843 §9.2).
  private var isKnownToReceiver = false

  private struct ReportMark {
    /// Of its NTP time.
    var middle: UInt32
    var sentAt: Instant
  }

  /// - Parameters:
  ///   - parameters: the source, its payload types and extensions.
  ///   - random: for the first number of retransmissions (RFC 3550 §5.1); the lower half keeps the first wrap away
  ///     from the first losses.
  public init(_ parameters: Parameters, random: RandomSource) {
    self.parameters = parameters
    numbers = SentNumbers(capacity: parameters.kind == .audio ? 128 : 1024)
    rtxNumber = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
  }

  /// Goes on as another source, of which the receiver knows nothing yet.
  func begin(as ssrc: UInt32) {
    parameters.ssrc = ssrc
    reports = (nil, nil)
    packetCount = 0
    octetCount = 0
    isKnownToReceiver = false
  }

  // MARK: Headers

  /// The extension values that name the source in its packets; what a packet says of itself is to be added.
  public var namingValues: RTPHeaderExtensions {
    var values = RTPHeaderExtensions()
    if !isKnownToReceiver {
      values.mid = parameters.mid
      values.rid = parameters.rid
    }
    return values
  }

  /// Those of a retransmission, which name the repaired stream (RFC 8852 §3.2).
  public var repairValues: RTPHeaderExtensions {
    var values = RTPHeaderExtensions()
    values.mid = parameters.mid
    values.repairedRid = parameters.rid
    return values
  }

  /// A number for another retransmission. SRTP never protects one number twice: under GCM that would give the
  /// authentication key away.
  public func takeRTXNumber() -> UInt16 {
    defer { rtxNumber &+= 1 }
    return rtxNumber
  }

  // MARK: What leaves

  /// A packet has left.
  ///
  /// - Parameters:
  ///   - number: its sequence number, of a retransmission the original's.
  ///   - count: bytes of the plain packet.
  ///   - payload: bytes of its payload.
  ///   - transportSequence: its transport-wide number; nil without one.
  ///   - sending: for the first time, again, or as padding.
  ///   - ecn: what its IP header says.
  ///   - now: the present time.
  public func sent(
    _ number: UInt16, count: Int, payload: Int, transportSequence: Int64?, as sending: Sending,
    ecn: ECNCodepoint = .notECT, at now: Instant
  ) {
    counters.packetsSent &+= 1
    if ecn == .ect1 { counters.packetsSentWithECT1 &+= 1 }
    counters.bytesSent &+= UInt64(payload)
    counters.headerBytesSent &+= UInt64(count - payload)
    switch sending {
    case .first:
      packetCount &+= 1
      octetCount &+= UInt32(truncatingIfNeeded: payload)
      numbers.note(number, transportSequence: transportSequence, at: now)
    case .retransmission:
      counters.retransmittedPacketsSent &+= 1
      counters.retransmittedBytesSent &+= UInt64(payload)
      numbers.noteAgain(number, transportSequence: transportSequence, at: now)
    case .padding:
      counters.paddingPacketsSent &+= 1
      counters.paddingBytesSent &+= UInt64(payload)
      numbers.noteAgain(number, transportSequence: transportSequence, at: now)
    }
  }

  /// Under which transport-wide number a packet left last; nil without one, and where nothing is known of it any more.
  func transportSequence(of number: UInt16) -> Int64? {
    numbers[number].flatMap { $0.transportSequence > 0 ? $0.transportSequence : nil }
  }

  /// Whether a packet that the receiver asks for may be sent again, and under which transport-wide number it left last
  /// (RFC 4585 §6.2.1). A request that comes less than a round trip after the packet was sent again has crossed it; one for
  /// a packet that is too old is of no use to anybody.
  public enum Request: Sendable, Hashable {
    case answerable(transportSequence: Int64?)
    case tooSoon
    case tooOld(transportSequence: Int64?)
    case unknown
  }

  /// Judges a request for a packet; one that is answerable counts as answered from now on.
  public func request(_ number: UInt16, roundTrip: Duration?, at now: Instant) -> Request {
    guard let entry = numbers[number] else {
      counters.retransmissionsMissing &+= 1
      return .unknown
    }
    let trip = max(roundTrip ?? .milliseconds(20), .milliseconds(5))
    let transportSequence = entry.transportSequence > 0 ? entry.transportSequence : nil
    guard now - entry.firstSent <= Self.longestUse + trip else {
      counters.retransmissionsMissing &+= 1
      return .tooOld(transportSequence: transportSequence)
    }
    if let resent = entry.resent, now - resent < trip { return .tooSoon }
    numbers.noteRequest(number, at: now)
    return .answerable(transportSequence: transportSequence)
  }

  /// Whether a FIR is a new one: a repetition keeps its number (RFC 5104 §4.3.1.2).
  public func isNewFullIntraRequest(_ number: UInt8) -> Bool {
    guard firNumber != number else { return false }
    firNumber = number
    return true
  }

  // MARK: Reports

  /// Makes a sender report (RFC 3550 §6.4.1) of two clocks at one moment; nil before the first packet.
  public func makeReport(
    ntp: NTPTime, rtpTimestamp: UInt32, at now: Instant
  ) -> RTCPSenderInfo? {
    guard packetCount > 0 else { return nil }
    reports = (ReportMark(middle: ntp.middle, sentAt: now), reports.0)
    return RTCPSenderInfo(
      ssrc: parameters.ssrc, ntp: ntp, rtpTimestamp: rtpTimestamp, packetCount: packetCount,
      octetCount: octetCount)
  }

  /// A report block about this source arrived. Its round trip is measured by our own clock: the times in the report may be
  /// another's.
  ///
  /// - Returns: the round-trip time that it shows, if it does.
  public func received(_ block: RTCPReportBlock, at now: Instant) -> Duration? {
    isKnownToReceiver = true
    remote.reports &+= 1
    remote.fractionLost = Double(block.fractionLost) / 256
    remote.packetsLost = Int64(block.cumulativeLost)
    remote.highestNumber = block.extendedHighestSequence
    remote.jitter = Double(block.jitter) / Double(max(1, parameters.clockRate))
    guard block.lastSenderReport != 0 else { return nil }
    for case let mark? in [reports.0, reports.1] where mark.middle == block.lastSenderReport {
      let delay = Int64(block.delaySinceLastSenderReport) * 1_000_000_000 / 65_536
      let roundTrip = Duration.nanoseconds(max(0, now.nanoseconds(since: mark.sentAt) &- delay))
      remote.roundTrip = roundTrip
      return roundTrip
    }
    return nil
  }
}
