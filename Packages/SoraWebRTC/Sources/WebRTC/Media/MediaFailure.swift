public import SoraAudio

/// Why a track's media can't be coded.
public enum MediaFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// No encoder could be made with what was negotiated: nothing is sent.
  case audioEncoder(AudioCodecError)
  /// No decoder could be made: nothing is played.
  case audioDecoder(AudioCodecError)

  public var description: String {
    switch self {
    case .audioEncoder(let error):
      "the audio encoder can't start, and nothing is sent: \(error); check the offer's format parameters"
    case .audioDecoder(let error): "the audio decoder can't start, and nothing is played: \(error)"
    }
  }
}
