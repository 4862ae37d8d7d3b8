package import SoraAudioDevices
import SoraMedia

extension Report {
  /// The microphone or the speaker of a run that uses one.
  package struct AudioDevice: Sendable, Equatable, Encodable {
    /// From the microphone, or to the speaker; nil if unknown.
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

extension Report.AudioDevice {
  /// A device's counters over a whole run, in which it may be closed and opened again: each time they begin at 0.
  package struct Tally: Sendable {
    private var before = (overruns: 0, underruns: 0, losses: 0)
    private var samples = 0
    private var last: Report.AudioDevice?

    package init() {}

    /// Of all times together; nil before the first.
    package var total: Report.AudioDevice? {
      guard var total = last else { return nil }
      total.overruns += before.overruns
      total.underruns = total.underruns.map { $0 + before.underruns }
      total.losses += before.losses
      return total
    }

    /// Takes what the device has done since it was opened.
    package mutating func add(
      _ statistics: AudioStreamStatistics, underruns: Int? = nil, isVoice: Bool? = nil
    ) {
      if let last, statistics.samples < samples {
        before.overruns += last.overruns
        before.underruns += last.underruns ?? 0
        before.losses += last.losses
      }
      samples = statistics.samples
      last = Report.AudioDevice(statistics, underruns: underruns, isVoice: isVoice)
    }
  }
}
