public import SoraWire

/// Where an `RTPSession`'s packets go: a `PeerTransport`, or a test.
public protocol RTPSessionOutput: AnyObject {
  /// Sends a plain RTP packet, whose IP header is to say `ecn`. Returns whether it was handed on.
  @discardableResult
  func sendRTP(_ packet: UnsafeRawBufferPointer, ecn: ECNCodepoint) -> Bool
  /// Sends a plain RTP packet once more that left before and hasn't changed since. Returns whether it was handed on.
  @discardableResult
  func sendRTPAgain(_ packet: UnsafeRawBufferPointer) -> Bool
  /// Lends memory to write a plain compound RTCP packet into.
  @discardableResult
  func sendRTCP(capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Bool
}

extension RTPSessionOutput {
  /// Outputs that don't say otherwise send nothing twice.
  public func sendRTPAgain(_ packet: UnsafeRawBufferPointer) -> Bool { false }
}

extension PeerTransport: RTPSessionOutput {}
