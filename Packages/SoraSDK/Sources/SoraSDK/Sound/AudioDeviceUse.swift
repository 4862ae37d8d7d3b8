public import SoraAudioDevices
public import SoraAudioProcessing

/// What the sound devices that a process has open do: see `Sora.audioDeviceUse`. Linux only.
public struct AudioDeviceUse: Sendable, Hashable {
  /// What the microphone has done since it was opened; nil while it is closed.
  public var microphone: AudioStreamStatistics?
  /// What the loudspeaker has done since it was opened; nil while it is closed.
  public var speaker: AudioStreamStatistics?
  /// How often nothing more of a stream was there to be played, of the streams that are there.
  public var underruns = 0
  /// From a stream's frames to the ear, of the stream of which most is waiting; nil if unknown, and while no stream is played.
  public var playoutLatency: Duration?

  public init() {}
}

/// What happens to the sound devices of a process: see `Sora.audioDeviceHandler`. Linux only.
public enum AudioDeviceEvent: Sendable, Hashable {
  /// A device that is needed can't be opened. Connections go on without it, and it is tried again when streams come or go.
  case refused(AudioDevice.Direction, AudioDeviceError)
  /// A device that was open went away, or its server. It is used again when it is back.
  case lost(AudioDevice.Direction, AudioDeviceError)
  /// A device that was lost is back, or another default.
  case restored(AudioDevice.Direction)
  /// The microphone's sound can't be processed, and is sent as it is.
  case unprocessed(AudioProcessingError)
}
