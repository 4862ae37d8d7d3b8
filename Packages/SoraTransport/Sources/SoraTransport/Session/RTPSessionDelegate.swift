public import SoraMedia
public import SoraRTP

/// Where an `RTPSession`'s packets go: a `PeerTransport`, or a test.
public protocol RTPSessionOutput: AnyObject {
  /// Sends a plain RTP packet. Returns whether it was handed on.
  @discardableResult
  func sendRTP(_ packet: UnsafeRawBufferPointer) -> Bool
  /// Lends memory to write a plain compound RTCP packet into.
  @discardableResult
  func sendRTCP(capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Bool
}

extension PeerTransport: RTPSessionOutput {}

/// What comes out of an `RTPSession`. Called on the loop that drives it, inside its calls.
public protocol RTPSessionDelegate: AnyObject {
  /// A complete video frame, in decoding order.
  func session(
    _ session: RTPSession, received frame: EncodedFrame, on stream: RTPReceiveStream,
    at now: Instant)
  /// One audio packet, in arrival order. The payload is lent for the call.
  func session(
    _ session: RTPSession, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    on stream: RTPReceiveStream, at now: Instant)
  /// The receiver of a stream of ours asks for a key frame (PLI or FIR).
  func session(_ session: RTPSession, wantsKeyFrameOn stream: RTPSendStream, at now: Instant)
  /// The estimated bandwidth for all media together changed; bits a second.
  func session(
    _ session: RTPSession, changedTargetBitrate bitsPerSecond: Int, at now: Instant)
}
