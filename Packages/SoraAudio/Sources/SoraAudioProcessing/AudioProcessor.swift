import CSoraAudioProcessing
public import SoraMedia

/// What is done with a microphone's sound before it is sent. Each can be switched while it runs.
public struct AudioProcessingSettings: Sendable, Hashable {
  /// How much of a constant noise is taken out.
  public enum NoiseSuppression: Int, Sendable, CaseIterable {
    case none = 0
    case low
    case moderate
    case high
    case veryHigh
  }

  /// Takes out what the loudspeaker plays. Needs `AudioProcessor.willPlay`.
  public var echoCancellation: Bool
  public var noiseSuppression: NoiseSuppression
  /// Makes quiet voices louder, and loud ones quieter.
  public var gainControl: Bool
  /// Has `AudioProcessor.process` say whether somebody speaks. Hum counts as a voice unless `highPass` takes it out.
  public var voiceDetection: Bool
  /// Takes out what lies below voices: hum and footsteps.
  public var highPass: Bool

  /// Everything but voice detection: what a call with microphone and loudspeaker needs.
  ///
  /// - Parameters:
  ///   - echoCancellation: takes out what the loudspeaker plays.
  ///   - noiseSuppression: how much of a constant noise is taken out.
  ///   - gainControl: evens out how loud voices are.
  ///   - voiceDetection: says whether somebody speaks.
  ///   - highPass: takes out what lies below voices.
  public init(
    echoCancellation: Bool = true, noiseSuppression: NoiseSuppression = .moderate,
    gainControl: Bool = true, voiceDetection: Bool = false, highPass: Bool = true
  ) {
    self.echoCancellation = echoCancellation
    self.noiseSuppression = noiseSuppression
    self.gainControl = gainControl
    self.voiceDetection = voiceDetection
    self.highPass = highPass
  }

  /// Nothing: the microphone's sound as it is.
  public static let off = Self(
    echoCancellation: false, noiseSuppression: .none, gainControl: false, voiceDetection: false,
    highPass: false)
}

/// Why sound can't be processed, with the way out.
public enum AudioProcessingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The library isn't installed.
  case noLibrary
  /// The library refused the settings.
  case refused

  public var description: String {
    switch self {
    case .noLibrary:
      "libwebrtc_audio_processing.so.1 is missing; install libwebrtc-audio-processing1, or switch sound processing off"
    case .refused: "webrtc-audio-processing refused the settings; switch some of them off"
    }
  }
}

/// Echo cancellation, noise suppression, gain control and voice detection, over Debian's webrtc-audio-processing, which is loaded when
/// the first one is made. Frames are 10 ms at 48 kHz.
///
/// `process` comes from the microphone's thread and `willPlay` from the loudspeaker's, each from one at a time; the rest from any.
@safe public final class AudioProcessor: @unchecked Sendable {
  // @unchecked: the library has locks of its own, and what is beside it belongs to `process` or to `willPlay`.
  private let raw: OpaquePointer
  public let channels: Int
  public let playbackChannels: Int

  /// - Parameters:
  ///   - settings: what is done at first.
  ///   - channels: of the microphone, 1 or 2.
  ///   - playbackChannels: of the loudspeaker, 1 or 2.
  /// - Throws: `noLibrary` where it isn't installed.
  public init(
    _ settings: AudioProcessingSettings = AudioProcessingSettings(), channels: Int = 1,
    playbackChannels: Int = 2
  ) throws(AudioProcessingError) {
    var made: OpaquePointer?
    let code = unsafe sora_processing_create(
      Int32(clamping: channels), Int32(clamping: playbackChannels), &made)
    guard let made = unsafe made else {
      throw code == Int32(SORA_PROCESSING_NO_LIBRARY) ? .noLibrary : .refused
    }
    unsafe raw = made
    self.channels = channels
    self.playbackChannels = playbackChannels
    try apply(settings)
  }

  deinit { unsafe sora_processing_close(raw) }

  /// Switches to other settings, from the next frame on.
  public func apply(_ settings: AudioProcessingSettings) throws(AudioProcessingError) {
    var values = sora_processing_settings(
      echo_cancellation: settings.echoCancellation ? 1 : 0,
      noise_suppression: Int32(settings.noiseSuppression.rawValue),
      gain_control: settings.gainControl ? 1 : 0, voice_detection: settings.voiceDetection ? 1 : 0,
      high_pass: settings.highPass ? 1 : 0)
    guard unsafe sora_processing_set(raw, &values) == 0 else { throw .refused }
  }

  /// Takes what the loudspeaker is about to play: 10 ms at 48 kHz in `playbackChannels`. Frames of another form are left out.
  public func willPlay(_ frame: AudioFrame) {
    guard frame.samples.count == 480 * playbackChannels else { return }
    unsafe frame.samples.withUnsafeBufferPointer {
      _ = unsafe sora_processing_far(raw, $0.baseAddress)
    }
  }

  /// Cleans what the microphone heard: 10 ms at 48 kHz in `channels`. Frames of another form are left as they are.
  ///
  /// - Parameters:
  ///   - frame: becomes what is to be sent.
  ///   - delay: from `willPlay` of a sound to `process` of its echo: the latencies of loudspeaker and microphone. It needn't
  ///     be exact.
  /// - Returns: whether somebody speaks; false where voice detection is off.
  @discardableResult
  public func process(_ frame: inout AudioFrame, delay: Duration = .milliseconds(60)) -> Bool {
    guard frame.samples.count == 480 * channels else { return false }
    let milliseconds = Int32(clamping: delay.wholeNanoseconds / 1_000_000)
    var hasVoice: Int32 = 0
    unsafe frame.samples.withUnsafeMutableBufferPointer {
      _ = unsafe sora_processing_near(raw, $0.baseAddress, milliseconds, &hasVoice)
    }
    return hasVoice != 0
  }
}
