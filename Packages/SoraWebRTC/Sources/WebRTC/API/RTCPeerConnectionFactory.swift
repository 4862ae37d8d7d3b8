import SoraAV1
import SoraAudio
public import SoraCodecs
import SoraDTLS
import SoraH264
import SoraH265
import SoraVP8
import SoraVP9

/// Makes peer connections, tracks and sources. One a process is enough; several are harmless.
public final class RTCPeerConnectionFactory: Sendable {
  /// Codecs, in order of preference.
  public let videoCodecs: VideoCodecRegistry
  let playout = AudioPlayout()
  let dtls: OpenSSLDTLSFactory?

  /// A factory with the codecs that this module links: VP8, VP9, AV1, H.264, H.265 and Opus. Without the trait `GPL`,
  /// H.265 is only decoded, and not negotiated.
  public convenience init() {
    self.init(
      videoCodecs: VideoCodecRegistry(
        [VP8CodecFactory(), VP9CodecFactory(), AV1CodecFactory()] + H264Codec.factories
          + H265Codec.factories))
  }

  /// A factory with video codecs of the caller's choice.
  public init(videoCodecs: VideoCodecRegistry) {
    self.videoCodecs = videoCodecs
    dtls = try? OpenSSLDTLSFactory()
  }

  /// What is offered and accepted: every codec that can be encoded and decoded, in order of preference.
  package var videoCapabilities: [CodecCapability] {
    let encodable = videoCodecs.encodableKinds
    return videoCodecs.decodableKinds.filter(encodable.contains).compactMap { kind in
      switch kind {
      case .vp8: .vp8
      case .vp9: .vp9
      case .av1: .av1
      case .h264, .h265: nil
      }
    }
  }

  /// A new connection; nil where the system gives no network loop or the crypto library doesn't start.
  ///
  /// - Parameter delegate: held weakly.
  public func peerConnection(
    with configuration: RTCConfiguration, constraints: RTCMediaConstraints? = nil,
    delegate: (any RTCPeerConnectionDelegate)? = nil
  ) -> RTCPeerConnection? {
    try? RTCPeerConnection(configuration, factory: self, delegate: delegate)
  }

  public func videoSource() -> RTCVideoSource { RTCVideoSource() }

  public func videoTrack(with source: RTCVideoSource, trackId: String) -> RTCVideoTrack {
    RTCVideoTrack(source: source, trackId: trackId)
  }

  public func audioSource(with constraints: RTCMediaConstraints? = nil) -> RTCAudioSource {
    RTCAudioSource()
  }

  public func audioTrack(with source: RTCAudioSource, trackId: String) -> RTCAudioTrack {
    RTCAudioTrack(source: source, trackId: trackId)
  }

  public func mediaStream(withStreamId streamId: String) -> RTCMediaStream {
    RTCMediaStream(streamId: streamId)
  }
}
