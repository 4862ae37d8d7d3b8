public import SoraMedia

/// What sends a track's audio: an encoder of one codec, which collects samples until a packet is full.
///
/// Confined: all calls come from one serial executor or thread.
public protocol AudioPacketEncoder: AnyObject {
  /// Samples of each channel per second that it takes; its RTP timestamps count these, too.
  var sampleRate: Int { get }
  /// Takes a block of any length at `sampleRate`, mono or stereo, and calls `emit` with each packet that it fills.
  func encode(_ frame: AudioFrame, emit: (EncodedFrame) -> Void) throws(AudioCodecError)
  /// Leaves out audio that was lost on its way here: `sampleCount` samples of each channel, behind those that wait for a packet to be
  /// full, which are left out, too. RTP timestamps go on over them.
  func skip(sampleCount: Int)
}

extension OpusEncoder: AudioPacketEncoder {
  public var sampleRate: Int { 48_000 }
}
