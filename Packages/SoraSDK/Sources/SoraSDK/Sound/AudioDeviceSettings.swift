public import SoraAudioProcessing

/// Which sound devices a process uses, and how: see `Sora.audioDeviceSettings`. Linux only.
public struct AudioDeviceSettings: Sendable, Hashable {
  /// Whether connections open the microphone and the loudspeaker that they need by themselves. Of no effect with `Sora.usesManualAudio`.
  public var isEnabled: Bool
  /// A microphone's id, or a part of its name that no other has; nil for the default.
  public var microphone: String?
  /// A loudspeaker's id, or a part of its name that no other has; nil for the default.
  public var speaker: String?
  /// What is done with the microphone's sound. Echo is taken out only while a loudspeaker is open.
  public var processing: AudioProcessingSettings
  /// What the sound server calls the streams of devices that are opened from now on, in its volume control.
  public var title: String

  public init(
    isEnabled: Bool = true, microphone: String? = nil, speaker: String? = nil,
    processing: AudioProcessingSettings = AudioProcessingSettings(), title: String = "Sora"
  ) {
    self.isEnabled = isEnabled
    self.microphone = microphone
    self.speaker = speaker
    self.processing = processing
    self.title = title
  }

  /// What counts at first: no device is opened.
  public static let off = Self(isEnabled: false)
}
