extension RTCPeerConnection {
  /// Makes a data channel, which opens when there is a connection. The first one has the delegate told that an offer is wanted, unless
  /// the other side has offered channels already. It is closed where the other side's answer turns channels down.
  ///
  /// - Returns: nil where the connection is closed, or the configuration contradicts itself or is out of range.
  public func dataChannel(
    forLabel label: String, configuration: RTCDataChannelConfiguration
  ) -> RTCDataChannel? {
    guard signalingState != .closed,
      let (parameters, stream) = configuration.parameters(label: label)
    else { return nil }
    let channel = facade.makeChannel(
      parameters, stream: stream, isNegotiated: stream != nil, readyState: .connecting, actor: actor
    )
    actor.execute { driver in
      driver.perform { _, _ in
        driver.data.open(channel, parameters, negotiatedStream: stream)
      }
    }
    return channel
  }
}
