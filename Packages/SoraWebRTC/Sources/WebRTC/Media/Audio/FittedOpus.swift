import SoraAudio
import SoraMedia
import SoraRTP
import SoraTransport

/// An Opus encoder that follows what the network does. Confined to its owner.
struct FittedOpus {
  let encoder: OpusEncoder
  private var adapter: OpusNetworkAdapter

  /// - Parameters:
  ///   - format: what was negotiated.
  ///   - bitrateLimit: bits per second, of the section; nil without one.
  ///   - redundancy: earlier packets that each packet repeats.
  ///   - adaptsPacketTime: false keeps to the shortest of the usual packet durations.
  init(
    format: OpusFormatParameters, bitrateLimit: Int?, redundancy: Int, adaptsPacketTime: Bool
  ) throws(AudioCodecError) {
    var wanted = format.encoderSettings(bitrateLimit: bitrateLimit)
    let room =
      RTPSendStream.maximumPayload
      - (redundancy == 0
        ? 0
        : redundancy * REDPayload.redundantHeaderCount + REDPayload.primaryHeaderCount)
    adapter = OpusNetworkAdapter(
      OpusNetworkAdapter.Configuration(
        bitsPerSecond: wanted.bitsPerSecond ?? 32_000, channels: wanted.channels,
        durations: adaptsPacketTime
          ? format.packetDurations : Array(format.packetDurations.prefix(1)),
        allowsInBandFEC: wanted.usesInBandFEC,
        redundancy: redundancy, maximumPayload: room))
    wanted.maximumPacketSize = room
    wanted.apply(adapter.decision)
    encoder = try OpusEncoder(wanted)
  }

  /// Fits the encoder to the network. Returns its settings where they have changed.
  mutating func fit(_ network: OpusNetworkState, at now: Instant) -> OpusEncoderSettings? {
    var settings = encoder.settings
    settings.apply(adapter.update(network, at: now))
    guard settings != encoder.settings else { return nil }
    do {
      try encoder.update(settings)
      return settings
    } catch {
      // A setting that is refused leaves those before it in force: audio goes on as it was.
      return nil
    }
  }
}
