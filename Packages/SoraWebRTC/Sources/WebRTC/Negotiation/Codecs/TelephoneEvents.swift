import SoraRTP
import SoraSDP

// Keys of a telephone (RFC 4733): a payload type beside those of audio.

extension [CodecMatch] {
  /// Without telephone events on a clock that no codec here has: they take audio's place in its own stream, which has one clock.
  func withUsableTelephoneEvents() -> [CodecMatch] {
    filter { match in
      !isSameText(match.remote.name, TelephoneEvent.encodingName)
        || contains { $0.remote.carriesAudio && $0.remote.clockRate == match.remote.clockRate }
    }
  }
}
