package import SoraCodecs
package import SoraSimulcast

/// What a track is encoded as: what was negotiated, and what the sender's parameters say.
package struct VideoSendConfiguration: Sendable, Equatable {
  package var kind: VideoCodecKind
  /// Lowest first; at least one.
  package var layers: [SimulcastLayerSettings]
  /// Bits a second that the receiver allows; nil where it sets no limit, and the picture's size does.
  package var limit: Int?
  /// nil leaves it to the track's content hint.
  package var degradationPreference: RTCDegradationPreference?
  /// The negotiated codec's, as SDP names them.
  package var formatParameters: [String: String]
  package var cores: Int

  package init(
    _ kind: VideoCodecKind, layers: [SimulcastLayerSettings] = [SimulcastLayerSettings()],
    limit: Int? = nil, degradationPreference: RTCDegradationPreference? = nil,
    formatParameters: [String: String] = [:], cores: Int = VideoEncoderSettings.onlineCores
  ) {
    precondition(!layers.isEmpty, "a video has one layer at least")
    self.kind = kind
    self.layers = layers
    self.limit = limit
    self.degradationPreference = degradationPreference
    self.formatParameters = formatParameters
    self.cores = cores
  }

  /// The layer with the largest pictures among those that are active.
  var largestActiveLayer: SimulcastLayerSettings? {
    var largest: SimulcastLayerSettings?
    for layer in layers where layer.isActive {
      if let largest, largest.scaleResolutionDownBy <= layer.scaleResolutionDownBy { continue }
      largest = layer
    }
    return largest
  }

  func preference(for hint: VideoContentHint?) -> RTCDegradationPreference {
    degradationPreference ?? RTCDegradationPreference(contentHint: hint)
  }

  /// Whether running encoders can take the new settings over.
  func canBecome(_ new: VideoSendConfiguration) -> Bool {
    kind == new.kind && layers.count == new.layers.count
      && formatParameters == new.formatParameters && cores == new.cores
  }
}
