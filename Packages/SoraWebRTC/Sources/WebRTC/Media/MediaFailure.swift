public import SoraAudio
public import SoraCodecs

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

  public var description: String {
    switch self {
    case .audioEncoder(let error):
      "the audio encoder can't start, and nothing is sent: \(error); check the offer's format parameters"
    case .audioDecoder(let error): "the audio decoder can't start, and nothing is played: \(error)"
    case .videoEncoder(let error): "the video encoder fails, and nothing is sent: \(error)"
    case .videoDecoder(let error): "the video decoder fails, and nothing is shown: \(error)"
    case .videoTooLarge(let width, let height, let limit):
      "frames of \(width)x\(height) are sent, and receivers refuse more than \(limit) pixels (4096x2304): they show nothing; send smaller ones"
    }
  }
}
