/// What becomes of frames that are encoded already and that can't be sent as they are: because another codec was negotiated, or because
/// they come in another order than they are shown in (B frames), which receivers of calls don't expect.
public enum RTCEncodedFrameHandling: Sendable, Hashable {
  /// They aren't sent, and the connection's delegate is told why (`MediaFailure.videoCodecMismatch`).
  case passThrough
  /// They are decoded, and encoded as was negotiated.
  case transcodeWhereNeeded
  /// All frames are decoded and encoded, so that rate and size follow the network.
  case transcode
}
