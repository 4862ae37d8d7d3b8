/// What happens to a data channel. All calls come on the connection's serial queue, in order; none blocks the network. A delegate that is
/// slow makes the other side wait: what comes is held back once 4 MiB wait for the app.
public protocol RTCDataChannelDelegate: AnyObject, Sendable {
  /// `readyState` has changed.
  func dataChannelDidChangeState(_ dataChannel: RTCDataChannel)
  /// A message has come.
  func dataChannel(
    _ dataChannel: RTCDataChannel, didReceiveMessageWith buffer: RTCDataBuffer)
  /// Bytes have left; `amount` are those that still wait.
  func dataChannel(_ dataChannel: RTCDataChannel, didChangeBufferedAmount amount: UInt64)
  /// `bufferedAmount` has fallen to `bufferedAmountLowThreshold`, from above it (W3C `bufferedamountlow`). Not libwebrtc's.
  func dataChannelDidReachLowBufferedAmount(_ dataChannel: RTCDataChannel)
}

extension RTCDataChannelDelegate {
  public func dataChannel(_: RTCDataChannel, didChangeBufferedAmount amount: UInt64) {}
  public func dataChannelDidReachLowBufferedAmount(_: RTCDataChannel) {}
}
