package import SoraAudioDevices
import SoraMedia

extension Report {
  /// The microphone or the speaker of a run that uses one.
  package struct AudioDevice: Sendable, Encodable {
    /// From the microphone, or to the speaker; nil if unknown, as after the end.
    package var latencyMs: Double?
    /// How often the device's buffer ran empty, or over.
    package var overruns: Int
    /// How often nothing of a stream was there to be played.
    package var underruns: Int?
    /// How often the device went away.
    package var losses: Int
    /// By how many millionths its clock is too slow.
    package var driftPpm: Double
    /// Whether somebody speaks; nil where nothing is done with the microphone's sound.
    package var voice: Bool?
    /// What the machine permits the device's thread.
    package var scheduling: String

    package init(
      _ statistics: AudioStreamStatistics, underruns: Int? = nil, isVoice: Bool? = nil
    ) {
      latencyMs = statistics.latency.map { $0.inMilliseconds.rounded(digits: 1) }
      overruns = statistics.overruns
      self.underruns = underruns
      losses = statistics.losses
      driftPpm = statistics.driftPPM.rounded(digits: 1)
      voice = isVoice
      scheduling = statistics.scheduling.rawValue
    }
  }
}
