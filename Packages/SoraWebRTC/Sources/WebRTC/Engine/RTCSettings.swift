import SoraICE
public import SoraTransport
public import SoraWire

/// Knobs beside the standard surface. The defaults are right for a call over the internet.
public struct RTCSettings: Sendable {
  /// Whether host candidates are gathered on loopback addresses. They are tried last, cost nothing where the other
  /// side is elsewhere, and let two programs of one machine talk when it has no network.
  public var gathersLoopback = true
  /// Whether host candidates are gathered on IPv6 addresses.
  public var gathersIPv6 = true
  /// Opens connections to TURN servers over TCP and TLS; without it only those reached over UDP are used. `SoraTURNStream` has one.
  public var streamConnector: (any ICEStreamConnector)?
  /// Whether addresses that come and go while a call runs are followed.
  public var followsInterfaces = true
  /// Local addresses to gather on, as text; empty means every address of the host.
  public var localAddresses: [String] = []
  /// Silence of the other side after which the connection has failed; `disconnected` comes after 2.5 s. RFC 7675 §5.1 allows up to 30 s:
  /// more lets it outlive a link that is gone for longer, and notices later that the other side has vanished.
  public var consentTimeout: Duration = .seconds(5)
  /// The same while a TURN server may be what is silent: ours that owes us an answer, or the other side's. Long enough for one that
  /// restarts.
  public var relayedConsentTimeout: Duration = .seconds(30)
  /// First bitrate of the bandwidth estimate, in bits per second.
  public var startBitrate = 1_000_000
  /// Least the estimate falls to, in bits per second.
  public var minBitrate = 50_000
  /// Most the estimate rises to, in bits per second.
  public var maxBitrate = 30_000_000
  /// Earlier packets that each audio packet repeats (RED, RFC 2198) where the other side takes that, 0 to 4. A copy
  /// makes good a lost packet and costs as much again. nil sends one to those that prefer it, as browsers do.
  public var audioRedundancy: Int?
  /// Whether repair packets for video (ULPFEC, FlexFEC-03) are offered: a lost packet is made good without being asked for, for a part of
  /// the rate. They are accepted in any case.
  public var offersRepair = false
  /// Whether feedback by source with ECN marks (RFC 8888) is offered, in place of transport-wide feedback. It is accepted in any case.
  public var offersFeedbackBySource = false
  /// What packets of media leave as where feedback by source was agreed on and the path carries the mark: `.ect1` for queues that know
  /// L4S (RFC 9331), `.ect0`, or `.notECT` for never.
  public var ecn = ECNCodepoint.ect1
  /// What `RTCRtpReceiver.jitterBufferTarget` is at first: zero shows each picture as soon as it can be decoded, for who steers by what
  /// is seen; nil goes by the path's jitter.
  public var jitterBufferTarget: Duration?
  /// Whether a section for data channels that the other side offers is taken. Channels of our own are offered in any case.
  public var acceptsDataChannels = true
  /// Bytes of the largest message of a data channel that is taken; the other side is told (`a=max-message-size`).
  public var maximumMessageSize = 256 * 1024

  public init() {}

  /// `localAddresses`, read.
  func parsedLocalAddresses() throws(RTCSetupError) -> [IPAddress] {
    try localAddresses.map { text throws(RTCSetupError) in
      guard let address = IPAddress(text) else { throw .malformedLocalAddress(text) }
      return address
    }
  }
}
