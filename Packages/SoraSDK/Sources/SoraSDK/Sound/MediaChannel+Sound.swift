import Synchronization
import WebRTC

extension MediaChannel {
  /// Lets the local stream send what the microphone hears, while an app wants that. Returns at once.
  func startMicrophone(for stream: BasicMediaStream) {
    let isOn = configuration.initialMicrophoneEnabled
    if !isOn { stream.audioEnabled = false }
    sora.audio.add(sender: stream, isMuted: !isOn)
    releaseSound(of: stream)
  }

  /// Lets a stream of others be heard, while an app wants that. Returns at once.
  func startSpeaker(for stream: BasicMediaStream) {
    sora.audio.add(receiver: stream)
    releaseSound(of: stream)
  }

  /// The end of a channel comes after the change of its phase, and may have been before the stream was known to the devices.
  private func releaseSound(of stream: BasicMediaStream) {
    let isThere = storage.withLock { state in
      [.connecting, .connected].contains(state.phase)
        && state.streams.contains { $0 === stream }
    }
    if !isThere { sora.audio.remove([stream]) }
  }

  /// The stream that sends sound; nil where none is sent.
  private var soundSender: BasicMediaStream? {
    let stream = storage.withLock { state in
      state.streams.first { $0.streamId == configuration.publisherStreamId }
    }
    return stream?.native.audioTracks.isEmpty == false ? stream : nil
  }

  /// Sends silence, or sound again. The microphone stays open, so that sound is there at once.
  ///
  /// - Returns: nil where it worked; `SoraError.mediaChannelError` where the channel sends no sound.
  @discardableResult
  public func setAudioSoftMute(_ mute: Bool) -> (any Error)? {
    guard let stream = soundSender else { return noSound }
    stream.audioEnabled = !mute
    return nil
  }

  /// Sends silence and lets the microphone go, or opens it again. It closes where no other channel sends it.
  ///
  /// Frames of the app's own (`MediaStream.send(audioFrame:)`) aren't sent meanwhile either.
  ///
  /// - Returns: nil where it worked; `SoraError.mediaChannelError` where the channel sends no sound, or why the microphone couldn't be
  ///   opened again. It takes as long as the microphone does.
  @discardableResult
  public func setAudioHardMute(_ mute: Bool) -> (any Error)? {
    guard let stream = soundSender else { return noSound }
    stream.audioEnabled = !mute
    return sora.audio.mute(mute, stream)
  }

  private var noSound: any Error {
    SoraError.mediaChannelError(
      reason: "the channel sends no sound; connect with a role that sends, and audioEnabled")
  }
}
