/// How a `NetworkLoop` works. The defaults suit WebRTC.
public struct NetworkLoopConfiguration: Sendable, Hashable {
  /// Whether runs of datagrams of one size for one destination go to the kernel as one (UDP_SEGMENT). Where the
  /// kernel or the device refuses, they go one by one.
  public var segmentationOffload = true
  /// Whether the kernel may hand over several datagrams at once (UDP_GRO).
  public var receiveOffload = true
  /// Whether a datagram that is longer than the path's MTU leaves as IP fragments.
  ///
  /// As with libwebrtc and Pion, which leave Linux's default alone (`IP_PMTUDISC_WANT`, unless the system is set
  /// otherwise): what fits isn't to be fragmented on the way (DF), the kernel learns from ICMP messages what fits,
  /// and cuts what doesn't. WebRTC's packets of 1,200 bytes fit nearly every path, and through an odd tunnel
  /// fragments are better than nothing. `false` (`IP_PMTUDISC_DO`) is for who searches the longest packet that
  /// passes (RFC 8899): longer ones are dropped and counted in `drops.tooLong`.
  public var fragmentsLongDatagrams = true
  /// Bytes that the kernel may hold for a socket that isn't read fast enough. The system may grant less.
  public var receiveBufferBytes = 4 << 20
  /// Bytes that the kernel may hold for a socket until the device takes them. The system may grant less.
  public var sendBufferBytes = 1 << 20
  /// Messages read with one system call, 1 to 256.
  public var receiveBatch = 16
  /// Datagrams read from one socket in one turn before others have theirs; exceeded by one batch at most.
  public var receiveLimit = 256
  /// Datagrams that one socket may hold back; what comes on top is dropped and counted.
  public var queueLimit = 2048

  public init() {}
}
