public import SoraAudio
public import SoraMedia

extension AudioMixer.Input: AudioSink {
  /// Mixes a track's frame in: `stream.addAudioSink(mixer.makeInput())`.
  public func receive(_ frame: AudioFrame) { push(frame) }
}
