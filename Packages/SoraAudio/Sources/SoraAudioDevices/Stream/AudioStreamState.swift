/// What happens to a stream of a sound device that nobody asked for.
public enum AudioStreamEvent: Sendable, Hashable {
  /// The device went away, or its server. The stream goes on by itself when it is back; until then nothing comes and nothing is played.
  case lost(AudioDeviceError)
  /// The device is back, or another default.
  case restored
}

/// What a stream of a sound device has done so far.
public struct AudioStreamStatistics: Sendable, Hashable {
  /// Samples of each channel that the app got, or gave.
  public var samples = 0
  /// How often the device's buffer ran empty (a loudspeaker's), or over (a microphone's).
  public var overruns = 0
  /// How often the device went away.
  public var losses = 0
  /// How often the device stood still, or leapt, so that its clock couldn't be followed.
  public var resets = 0
  /// From the microphone to the app, or from the app to the loudspeaker, as the system measures it; nil if unknown.
  public var latency: Duration?
  /// By how many millionths the device's clock is too slow, as far as it is known. It is made up for.
  public var driftPPM = 0.0
  /// What a loudspeaker's buffer holds now: more than at first where it ran empty.
  public var buffer: Duration = .zero
  /// What the machine permits the stream's thread.
  public var scheduling = AudioThreadScheduling.normal

  public init() {}
}

/// How the thread of a stream is scheduled: as the first of these that the machine permits.
public enum AudioThreadScheduling: String, Sendable, Hashable, CaseIterable {
  /// Before all that isn't real time (`SCHED_RR`, priority 10): root, `CAP_SYS_NICE`, or a limit `rtprio` in `limits.conf` permits it.
  case realTime
  /// With a larger share than others (nice -11): `CAP_SYS_NICE`, or a limit `nice`.
  case favored
  /// As any other thread.
  case normal
}
