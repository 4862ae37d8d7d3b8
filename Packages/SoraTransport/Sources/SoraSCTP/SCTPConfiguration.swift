/// What an association is made with. Values out of range are brought into it.
public struct SCTPConfiguration: Sendable, Hashable {
  /// The port of this end and of the peer. WebRTC's is 5000 on both sides (RFC 8841 §5.1).
  public var localPort: UInt16 = 5000
  public var remotePort: UInt16 = 5000

  /// How many streams this end wants to send on, and how many it lets the peer send on; each end gets the smaller of what it wants
  /// and what the other allows (RFC 9260 §5.1.1). 1...65535.
  public var outgoingStreams: UInt16 = 65535
  public var incomingStreams: UInt16 = 65535

  /// Bytes of the largest message that is put together. A larger one of the peer's ends the association.
  public var maximumMessageSize = 256 * 1024
  /// Bytes of the largest message that `send` takes, within `sendBufferLimit`; what the peer puts together is for the application to know.
  public var maximumSentMessageSize = 256 * 1024

  /// Bytes that may wait to be sent or acknowledged, in all streams together, where each message counts for 128 more, as it takes memory,
  /// too; `send` throws beyond that.
  public var sendBufferLimit = 8 * 1024 * 1024

  /// Bytes that are kept for the peer's messages: those that aren't whole, wait for their turn, or wait for the reader. What is
  /// left of them is the window that the peer is told.
  public var receiveWindow = 5 * 1024 * 1024

  /// Bytes of the largest SCTP packet, common header included. 1200 - 16 for packets in DTLS datagrams whose path isn't known
  /// better. 576...65535.
  public var mtu = 1184
  /// How far path MTU discovery goes with probes (RFC 8899); not above `mtu`: it doesn't probe.
  public var maximumMTU = 1184

  /// The bounds of the retransmission timeout and its first value (RFC 9260 §16).
  public var initialRTO = Duration.milliseconds(500)
  public var minimumRTO = Duration.milliseconds(200)
  public var maximumRTO = Duration.seconds(10)

  /// How long an acknowledgement may wait for a second packet (RFC 9260 §6.2: at most 500 ms).
  public var acknowledgementDelay = Duration.milliseconds(100)

  /// How long a path is idle before a HEARTBEAT asks for a sign of life; `nil` for never.
  public var heartbeatInterval: Duration? = .seconds(30)

  /// How often INIT and COOKIE ECHO are sent again before the attempt has failed.
  public var maximumInitRetransmissions = 8
  /// Timeouts in a row, of data, heartbeats, resets and shutdown, until the association has failed; `nil` for never.
  public var maximumRetransmissions: Int? = 10

  /// How long a state cookie can be used.
  public var cookieLifetime = Duration.seconds(60)

  /// Whether messages may be abandoned (RFC 3758), where the peer can do that, too.
  public var partialReliability = true
  /// Whether streams can be reset (RFC 6525), where the peer can do that, too.
  public var streamReset = true
  /// Whether messages of different streams are interleaved by I-DATA chunks (RFC 8260), where the peer can do that, too.
  public var interleaving = true
  /// Whether packets go without a checksum, where the peer agrees: only over something that protects them itself, such as DTLS
  /// (RFC 9653, error detection method 1).
  public var zeroChecksum = false

  /// Whose turn it is when several streams have messages to send.
  public var scheduler = SCTPStreamScheduler.weightedFair

  public init() {}
}

/// How streams that have messages to send take turns (RFC 8260 §3). A turn is a message, or a fragment of one where messages are
/// interleaved.
public enum SCTPStreamScheduler: Sendable, Hashable {
  /// One after the other.
  case roundRobin
  /// Bytes in proportion to the streams' priorities (RFC 8260 §3.6, RFC 8831 §6.4).
  case weightedFair
}

extension SCTPConfiguration {
  /// The same with every value in its range.
  var inRange: SCTPConfiguration {
    var result = self
    result.outgoingStreams = max(1, outgoingStreams)
    result.incomingStreams = max(1, incomingStreams)
    result.mtu = min(max(576, mtu), 65_532) & ~3
    result.maximumMTU = min(max(result.mtu, maximumMTU), 65_532) & ~3
    result.maximumMessageSize = min(max(1, maximumMessageSize), Int(Int32.max))
    result.sendBufferLimit = max(1, sendBufferLimit)
    result.maximumSentMessageSize = min(
      max(1, maximumSentMessageSize), result.sendBufferLimit, Int(Int32.max))
    result.receiveWindow = min(max(4096, receiveWindow), Int(UInt32.max))
    result.minimumRTO = max(.milliseconds(1), minimumRTO)
    result.maximumRTO = min(max(result.minimumRTO, maximumRTO), .seconds(600))
    result.initialRTO = min(max(result.minimumRTO, initialRTO), result.maximumRTO)
    result.acknowledgementDelay = min(max(.zero, acknowledgementDelay), .milliseconds(500))
    result.heartbeatInterval = heartbeatInterval.map { max(.milliseconds(10), $0) }
    result.maximumInitRetransmissions = max(0, maximumInitRetransmissions)
    result.maximumRetransmissions = maximumRetransmissions.map { max(0, $0) }
    return result
  }

  /// What this end tells the peer that it can do.
  var extensions: Initiation.Extensions {
    Initiation.Extensions(
      partialReliability: partialReliability, streamReset: streamReset, interleaving: interleaving,
      zeroChecksum: zeroChecksum)
  }

  var roundTripEstimate: RoundTripEstimate {
    RoundTripEstimate(initial: initialRTO, minimum: minimumRTO, maximum: maximumRTO)
  }
}
