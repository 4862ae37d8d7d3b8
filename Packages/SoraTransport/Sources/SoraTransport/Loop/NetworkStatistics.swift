/// What a loop or one of its sockets has done so far. Counters never go back.
public struct NetworkStatistics: Sendable, Hashable {
  /// Datagrams handed to handlers.
  public var datagramsReceived: UInt64 = 0
  /// Payload bytes of those.
  public var bytesReceived: UInt64 = 0
  /// Calls of `recvmmsg`.
  public var receiveCalls: UInt64 = 0
  /// Messages in which the kernel handed over several datagrams at once (UDP_GRO).
  public var mergedReceives: UInt64 = 0
  /// Datagrams that came as ECN-capable, by codepoint, and those that a router marked (RFC 3168 §5).
  public var datagramsReceivedWithECT0: UInt64 = 0
  public var datagramsReceivedWithECT1: UInt64 = 0
  public var datagramsReceivedWithCE: UInt64 = 0

  /// Datagrams that the kernel took.
  public var datagramsSent: UInt64 = 0
  /// Payload bytes of those.
  public var bytesSent: UInt64 = 0
  /// Messages in which those went: one datagram each, or several (`mergedSends`).
  public var messagesSent: UInt64 = 0
  /// Calls of `sendmmsg`, or of `sendmsg` where there is one message.
  public var sendCalls: UInt64 = 0
  /// Messages that carried several datagrams at once (UDP_SEGMENT).
  public var mergedSends: UInt64 = 0
  /// Merged messages that the kernel or the device refused, and that were then sent one by one.
  public var mergeRefusals: UInt64 = 0
  /// How often a socket was full and its queue had to wait.
  public var sendWaits: UInt64 = 0

  /// Datagrams that were lost here, by reason.
  public var drops = Drops()
  /// What ICMP messages said of datagrams that had been sent, by what they said.
  public var icmp = ICMP()

  public init() {}

  /// Datagrams that were lost on this host, by reason.
  public struct Drops: Sendable, Hashable {
    /// Not sent: the socket's queue was full.
    public var queueFull: UInt64 = 0
    /// Not sent: longer than the path or UDP allows; `UDPSocket.pathMTUReport` says what the path takes.
    public var tooLong: UInt64 = 0
    /// Not sent: no route, or an interface that is down.
    public var unreachable: UInt64 = 0
    /// Not sent: a packet filter refused it.
    public var notPermitted: UInt64 = 0
    /// Not sent: the kernel had no memory for it.
    public var noMemory: UInt64 = 0
    /// Not sent: the socket was closed.
    public var closed: UInt64 = 0
    /// Not sent: another error.
    public var failed: UInt64 = 0
    /// Not received: longer than a slot.
    public var truncated: UInt64 = 0
    /// Not received: the kernel's buffer was full. As the kernel tells it, with the next datagram that fits.
    public var receiveBufferFull: UInt64 = 0

    public init() {}

    /// All of them.
    public var total: UInt64 {
      queueFull + tooLong + unreachable + notPermitted + noMemory + closed + failed + truncated
        + receiveBufferFull
    }
  }

  /// ICMP messages about datagrams that had been sent. Anybody on the way can forge them: hints, not facts.
  public struct ICMP: Sendable, Hashable {
    /// A link of the path takes only shorter packets; `UDPSocket.pathMTUReport` says how short.
    public var packetTooBig: UInt64 = 0
    /// Nobody has the port open.
    public var portUnreachable: UInt64 = 0
    /// No way to the network or host, a host that doesn't answer, or too many hops.
    public var unreachable: UInt64 = 0
    /// A filter on the way refuses (IPv6; over IPv4 it counts as unreachable).
    public var prohibited: UInt64 = 0
    public var other: UInt64 = 0

    public init() {}
  }

  static func += (sum: inout NetworkStatistics, other: NetworkStatistics) {
    sum.datagramsReceived &+= other.datagramsReceived
    sum.bytesReceived &+= other.bytesReceived
    sum.receiveCalls &+= other.receiveCalls
    sum.mergedReceives &+= other.mergedReceives
    sum.datagramsSent &+= other.datagramsSent
    sum.bytesSent &+= other.bytesSent
    sum.messagesSent &+= other.messagesSent
    sum.sendCalls &+= other.sendCalls
    sum.mergedSends &+= other.mergedSends
    sum.mergeRefusals &+= other.mergeRefusals
    sum.sendWaits &+= other.sendWaits
    sum.datagramsReceivedWithECT0 &+= other.datagramsReceivedWithECT0
    sum.datagramsReceivedWithECT1 &+= other.datagramsReceivedWithECT1
    sum.datagramsReceivedWithCE &+= other.datagramsReceivedWithCE
    sum.icmp.packetTooBig &+= other.icmp.packetTooBig
    sum.icmp.portUnreachable &+= other.icmp.portUnreachable
    sum.icmp.unreachable &+= other.icmp.unreachable
    sum.icmp.prohibited &+= other.icmp.prohibited
    sum.icmp.other &+= other.icmp.other
    sum.drops.queueFull &+= other.drops.queueFull
    sum.drops.tooLong &+= other.drops.tooLong
    sum.drops.unreachable &+= other.drops.unreachable
    sum.drops.notPermitted &+= other.drops.notPermitted
    sum.drops.noMemory &+= other.drops.noMemory
    sum.drops.closed &+= other.drops.closed
    sum.drops.failed &+= other.drops.failed
    sum.drops.truncated &+= other.drops.truncated
    sum.drops.receiveBufferFull &+= other.drops.receiveBufferFull
  }
}
