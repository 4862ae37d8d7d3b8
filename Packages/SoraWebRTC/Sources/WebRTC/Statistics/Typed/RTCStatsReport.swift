/// A report, whose objects can be had by type.
public protocol RTCStatsReport {
  /// The objects of a W3C type such as `inbound-rtp`, by id.
  func all(_ type: String) -> [RTCStatistics]
}

extension RTCStatsReport {
  /// What is received, one for each source.
  public var inboundRTP: [RTCInboundRtpStreamStats] { typed("inbound-rtp") }
  /// What is sent, one for each source; with simulcast one for each layer.
  public var outboundRTP: [RTCOutboundRtpStreamStats] { typed("outbound-rtp") }
  /// What the other side says of what is sent. Begins with its first report, some seconds after the first packet.
  public var remoteInboundRTP: [RTCRemoteInboundRtpStreamStats] { typed("remote-inbound-rtp") }
  /// What the other side says of what is received. Begins with its first report, some seconds after the first packet.
  public var remoteOutboundRTP: [RTCRemoteOutboundRtpStreamStats] { typed("remote-outbound-rtp") }
  /// Tracks that are sent, before they are encoded.
  public var mediaSources: [RTCMediaSourceStats] { typed("media-source") }
  /// How received audio is played; nil before there is any.
  public var mediaPlayout: RTCAudioPlayoutStats? {
    all("media-playout").first.map(RTCAudioPlayoutStats.init)
  }
  /// Codecs that are negotiated.
  public var codecs: [RTCCodecStats] { typed("codec") }
  /// The path of all media, once there is a connection.
  public var transport: RTCTransportStats? {
    all("transport").first.map(RTCTransportStats.init)
  }
  /// Pairs of addresses that were tried.
  public var candidatePairs: [RTCIceCandidatePairStats] { typed("candidate-pair") }
  /// The pair of addresses that media takes; nil before there is one.
  public var selectedCandidatePair: RTCIceCandidatePairStats? {
    let selected = transport?.selectedCandidatePairId
    return candidatePairs.first { $0.id == selected }
  }
  /// Addresses of this host, and those that servers gave it.
  public var localCandidates: [RTCIceCandidateStats] { typed("local-candidate") }
  /// Addresses of the other side.
  public var remoteCandidates: [RTCIceCandidateStats] { typed("remote-candidate") }
  /// Data channels that aren't closed.
  public var dataChannels: [RTCDataChannelStats] { typed("data-channel") }
  /// Both sides' certificates.
  public var certificates: [RTCCertificateStats] { typed("certificate") }

  /// The codec that a stream names with `codecId`.
  public func codec(_ id: String?) -> RTCCodecStats? { codecs.first { $0.id == id } }

  private func typed<Stats: RTCStats>(_ type: String) -> [Stats] { all(type).map(Stats.init) }
}

extension RTCStatisticsReport: RTCStatsReport {}
