import SoraMedia
import SoraWire

/// What a recording has to know of Opus packets.
package enum OpusTime {
  /// How much later a decoder gives a sample than an encoder took it: libopus's lookahead of 2.5 ms, and 4 ms in which its two
  /// layers are brought together (`OPUS_GET_LOOKAHEAD`, 312 samples). RTP timestamps don't count it, and players of files don't know
  /// of it.
  package static let decodingDelay = Duration.microseconds(6_500)

  /// How long a packet sounds; zero for one that says nothing sensible.
  package static func duration(of packet: RawSpan) -> Duration {
    .microseconds((OpusPacket.sampleCount(packet) ?? 0) * 1_000_000 / 48_000)
  }
}
