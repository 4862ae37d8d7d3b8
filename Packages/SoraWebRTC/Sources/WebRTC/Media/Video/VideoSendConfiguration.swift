package import SoraCodecs
package import SoraSimulcast

/// What a track is encoded as: what was negotiated, and what the sender's parameters say.
package struct VideoSendConfiguration: Sendable, Equatable {
  package var kind: VideoCodecKind
  /// Lowest first; at least one.
  package var layers: [SimulcastLayerSettings]
  /// Bits per second that the receiver allows; nil where it sets no limit, and the frame's size does.
  package var limit: Int?
  /// nil leaves it to the track's content hint.
  package var degradationPreference: RTCDegradationPreference?
  /// The negotiated codec's, as SDP names them.
  package var formatParameters: [String: String]
  package var cores: Int
  /// Bits of a sample, 8 or 10, where the format parameters don't say it: VP9's do.
  package var bitDepth: Int

  package init(
    _ kind: VideoCodecKind, layers: [SimulcastLayerSettings] = [SimulcastLayerSettings()],
    limit: Int? = nil, degradationPreference: RTCDegradationPreference? = nil,
    formatParameters: [String: String] = [:], cores: Int = VideoEncoderSettings.onlineCores,
    bitDepth: Int = 8
  ) {
    precondition(!layers.isEmpty, "a video has one layer at least")
    self.kind = kind
    self.layers = layers
    self.limit = limit
    self.degradationPreference = degradationPreference
    self.formatParameters = formatParameters
    self.cores = cores
    self.bitDepth = bitDepth
  }

  /// The active layer with the largest frames of a source, and their size; nil where none is active.
  func largestActiveLayer(ofSource width: Int, _ height: Int) -> (
    layer: SimulcastLayerSettings, width: Int, height: Int
  )? {
    var largest: (layer: SimulcastLayerSettings, width: Int, height: Int)?
    for layer in layers where layer.isActive {
      let size = layer.size(ofSource: width, height)
      if let largest, largest.width >= size.width { continue }
      largest = (layer, size.width, size.height)
    }
    return largest
  }

  func preference(for hint: VideoContentHint?) -> RTCDegradationPreference {
    degradationPreference ?? RTCDegradationPreference(contentHint: hint)
  }

  /// Whether running encoders can take the new settings over.
  func canBecome(_ new: VideoSendConfiguration) -> Bool {
    kind == new.kind && layers.count == new.layers.count
      && formatParameters == new.formatParameters && cores == new.cores && bitDepth == new.bitDepth
  }
}
