import SoraCodecs
import SoraSDP
import SoraSimulcast

extension VideoSendConfiguration {
  /// What was negotiated, with what the sender's parameters say of each encoding.
  ///
  /// - Parameter modes: layers that the codec's encoders can make. What they can't is sent without layers.
  init(
    _ kind: VideoCodecKind, _ send: SendParameters, _ parameters: RTCRtpParameters,
    modes: [ScalabilityMode]
  ) {
    let count = send.encodings.count
    let layers = send.encodings.enumerated().map { index, negotiated in
      let wanted =
        parameters.encodings.first { $0.rid == negotiated.rid }
        ?? (count == 1 ? parameters.encodings.first : nil)
      let mode = wanted?.scalabilityMode.flatMap { ScalabilityMode($0) }
      return SimulcastLayerSettings(
        rid: negotiated.rid, isActive: !negotiated.isPausedByPeer && wanted?.isActive ?? true,
        // W3C webrtc-pc §5.1: where the parameters don't say, each encoding is half of the next.
        scaleResolutionDownBy: wanted?.scaleResolutionDownBy
          ?? Double(1 << min(count - 1 - index, 8)),
        scaleResolutionDownTo: wanted?.scaleResolutionDownTo.map {
          .init(width: $0.maxWidth, height: $0.maxHeight)
        },
        maximumBitsPerSecond: wanted?.maxBitrateBps, minimumBitsPerSecond: wanted?.minBitrateBps,
        maximumFramesPerSecond: wanted?.maxFramerate,
        scalabilityMode: mode.flatMap { modes.contains($0) ? $0 : nil }
          ?? (wanted?.scalabilityMode == nil ? kind.usualMode(of: modes) : .l1t1))
    }
    self.init(
      kind, layers: layers, limit: send.maximumBitrate,
      degradationPreference: parameters.degradationPreference,
      formatParameters: Dictionary(
        send.codec.parameters.entries.map { ($0.key.lowercased(), $0.value ?? "") },
        uniquingKeysWith: { first, _ in first }))
    let canBeDeep = kind == .av1 && layers.allSatisfy { $0.scalabilityMode.spatialLayers == 1 }
    if canBeDeep, parameters.videoBitDepth == 10 { bitDepth = 10 }
  }
}

extension VideoCodecKind {
  /// What is sent where nobody asks for layers: three temporal ones where every implementation of the codec has them, so that a
  /// server can leave frames out for those whose link is narrow.
  fileprivate func usualMode(of modes: [ScalabilityMode]) -> ScalabilityMode {
    format.namesTemporalLayers && modes.contains(.l1t3) ? .l1t3 : .l1t1
  }
}

extension VideoCodecRegistry {
  /// Layers that an encoder of the codec can make, of whichever implementation.
  func scalabilityModes(of kind: VideoCodecKind) -> [ScalabilityMode] {
    capabilities.filter { $0.kind == kind && $0.canEncode }.flatMap(\.scalabilityModes)
  }
}
