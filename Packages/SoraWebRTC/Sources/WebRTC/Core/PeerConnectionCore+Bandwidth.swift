public import SoraCongestion

extension PeerConnectionCore {
  /// What each sending transceiver may take, and why it isn't more, by the transceiver's id.
  public var bandwidthShares: [Int: BandwidthAllocator.Share] { bandwidth.shares }

  /// Bits per second that a video transceiver may send: its share of the estimate, within the other side's limit.
  public func videoBitrate(transceiverID: Int) -> Int {
    (bandwidth.shares[transceiverID]?.rate ?? BandwidthAllocator.leastVideo).bitsPerSecond
  }
}
