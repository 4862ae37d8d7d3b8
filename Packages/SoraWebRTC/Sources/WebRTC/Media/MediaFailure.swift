public import SoraAudio
public import SoraCodecs
public import SoraMedia

/// Why a track's media can't be coded, or won't be seen.
public enum MediaFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// No encoder could be made with what was negotiated: nothing is sent.
  case audioEncoder(AudioCodecError)
  /// No decoder could be made: nothing is played.
  case audioDecoder(AudioCodecError)
  /// The video encoder refuses the frames, again and again: nothing is sent.
  case videoEncoder(CodecError)
  /// The video decoder refuses what comes, a key frame or not: nothing is shown.
  case videoDecoder(CodecError)
  /// So large frames are sent that receivers refuse them: decoders reserve no memory for more than `limit` pixels.
  case videoTooLarge(width: Int, height: Int, limit: Int)
  /// Frames that were encoded already are of another codec than the negotiated one: they aren't sent.
  case videoCodecMismatch(given: VideoCodecKind, negotiated: VideoCodecKind)
  /// Frames that were encoded already come in another order than they were captured in (B frames): those that no other refers to
  /// aren't sent, and the others may be shown late.
  case videoReordered(VideoCodecKind)
  /// What was given as encoded isn't a frame of its codec, or is a key frame whose parameter sets never came: it isn't sent.
  case videoUnreadable(VideoCodecKind)

  public var description: String {
    switch self {
    case .audioEncoder(let error):
      "the audio encoder can't start, and nothing is sent: \(error); check the offer's format parameters"
    case .audioDecoder(let error): "the audio decoder can't start, and nothing is played: \(error)"
    case .videoEncoder(let error): "the video encoder fails, and nothing is sent: \(error)"
    case .videoDecoder(let error): "the video decoder fails, and nothing is shown: \(error)"
    case .videoTooLarge(let width, let height, let limit):
      "frames of \(width)x\(height) are sent, and receivers refuse more than \(limit) pixels (4096x2304): they show nothing; send smaller ones"
    case .videoCodecMismatch(let given, let negotiated):
      "encoded frames of \(given) aren't sent, because \(negotiated) was negotiated; connect with the codec \(given), or let the source transcode"
    case .videoReordered(let codec):
      "encoded \(codec) frames come in another order than they are shown in, which calls don't take; encode without B frames, or let the source transcode"
    case .videoUnreadable(let codec):
      "what was given isn't \(codec), or its parameter sets never came; give whole frames, and parameter sets before the first key frame"
    }
  }
}
