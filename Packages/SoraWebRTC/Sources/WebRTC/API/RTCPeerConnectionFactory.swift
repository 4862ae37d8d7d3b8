import SoraAV1
import SoraAudio
public import SoraCodecs
public import SoraDTLS
import SoraH264
import SoraH265
import SoraSDP
import SoraVP8
import SoraVP9

/// Makes peer connections, tracks and sources. One a process is enough; several are harmless.
public final class RTCPeerConnectionFactory: Sendable {
  /// Codecs, in order of preference.
  public let videoCodecs: VideoCodecRegistry
  /// Who secures connections, or why nobody does.
  private let endpoints: Result<any DTLSEndpointFactory & Sendable, DTLSError>

  /// A factory with the codecs that this module links: VP8, VP9, AV1, H.264, H.265 and Opus. Without the trait `GPL`,
  /// H.265 is only decoded, and negotiated where nothing is sent.
  public convenience init() {
    self.init(videoCodecs: Self.linkedCodecs)
  }

  /// A factory with video codecs of the caller's choice.
  ///
  /// - Parameters:
  ///   - videoCodecs: the codecs that descriptions offer, in order of preference.
  ///   - dtls: who secures connections: this project's own DTLS 1.3 and 1.2, or libssl's 1.2.
  public convenience init(videoCodecs: VideoCodecRegistry, dtls: DTLSImplementation = .standard) {
    self.init(
      videoCodecs: videoCodecs, endpoints: Result { () throws(DTLSError) in try dtls.makeFactory() }
    )
  }

  /// A factory whose connections are secured as the caller says.
  ///
  /// - Parameters:
  ///   - videoCodecs: nil for those that this module links.
  ///   - dtlsFactory: such as a `NativeDTLSFactory` with the versions, suites and timers that are wanted.
  public convenience init(
    videoCodecs: VideoCodecRegistry? = nil, dtlsFactory: any DTLSEndpointFactory & Sendable
  ) {
    self.init(videoCodecs: videoCodecs ?? Self.linkedCodecs, endpoints: .success(dtlsFactory))
  }

  /// A factory for who finds out itself whether there is cryptography.
  ///
  /// - Parameters:
  ///   - videoCodecs: the codecs that descriptions offer, in order of preference.
  ///   - endpoints: who secures connections; or why nobody does, which each connection that is asked for tells.
  public init(
    videoCodecs: VideoCodecRegistry,
    endpoints: Result<any DTLSEndpointFactory & Sendable, DTLSError>
  ) {
    self.videoCodecs = videoCodecs
    self.endpoints = endpoints
  }

  private static var linkedCodecs: VideoCodecRegistry {
    VideoCodecRegistry(
      [VP8CodecFactory(), VP9CodecFactory(), AV1CodecFactory()] + H264Codec.factories
        + H265Codec.factories)
  }

  /// What is offered and accepted, in order of preference. Codecs that can only be encoded or only be decoded are for
  /// sections that need no more.
  package var videoCapabilities: [CodecCapability] {
    let encodable = videoCodecs.encodableKinds
    let decodable = videoCodecs.decodableKinds
    return (decodable + encodable.filter { !decodable.contains($0) }).flatMap { kind in
      let direction = MediaDirection(
        sends: encodable.contains(kind), receives: decodable.contains(kind))
      let implementations = videoCodecs.capabilities.filter { $0.kind == kind }
      let encoders = implementations.filter(\.canEncode)
      let decoders = implementations.filter(\.canDecode)
      var capability: CodecCapability
      switch kind {
      case .vp8: capability = .vp8
      case .vp9:
        // Who names no profile has what an absent one means.
        let profiles = { (found: [VideoCodecCapability]) in
          found.flatMap { $0.profiles.isEmpty ? ["0"] : $0.profiles }
        }
        return CodecCapability.vp9(encodable: profiles(encoders), decodable: profiles(decoders))
      case .av1: capability = .av1
      case .h265: capability = .h265
      case .h264:
        return CodecCapability.h264(
          encodable: encoders.flatMap(\.profiles), decodable: decoders.flatMap(\.profiles))
      }
      capability.direction = direction
      return [capability]
    }
  }

  /// A new connection; nil for every reason that `makePeerConnection` throws, which libwebrtc's name doesn't tell.
  ///
  /// - Parameters:
  ///   - configuration: servers, policies and settings of the connection.
  ///   - constraints: kept for the name; has no effect.
  ///   - delegate: held weakly.
  public func peerConnection(
    with configuration: RTCConfiguration, constraints: RTCMediaConstraints? = nil,
    delegate: (any RTCPeerConnectionDelegate)? = nil
  ) -> RTCPeerConnection? {
    try? makePeerConnection(with: configuration, constraints: constraints, delegate: delegate)
  }

  /// A new connection. Not libwebrtc's.
  ///
  /// - Parameters:
  ///   - configuration: servers, policies and settings of the connection.
  ///   - constraints: kept for the name; has no effect.
  ///   - delegate: held weakly.
  /// - Throws: what is missing, and how to come by it.
  public func makePeerConnection(
    with configuration: RTCConfiguration, constraints: RTCMediaConstraints? = nil,
    delegate: (any RTCPeerConnectionDelegate)? = nil
  ) throws(RTCSetupError) -> RTCPeerConnection {
    try RTCPeerConnection(
      configuration, videoCodecs: videoCodecs, videoCapabilities: videoCapabilities,
      dtls: dtlsEndpoints, delegate: delegate)
  }

  /// Who secures a connection, or why there can't be one.
  var dtlsEndpoints: Result<any DTLSEndpointFactory & Sendable, RTCSetupError> {
    endpoints.mapError(RTCSetupError.noCryptography)
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
