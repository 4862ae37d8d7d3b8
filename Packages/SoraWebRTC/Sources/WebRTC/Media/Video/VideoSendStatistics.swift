import SoraMedia
package import SoraSimulcast

/// Counters of a `VideoSendPipeline`.
package struct VideoSendStatistics: Sendable {
  /// Of one layer.
  package struct Layer: Sendable {
    package var framesEncoded: UInt64 = 0
    package var keyFramesEncoded: UInt64 = 0
    package var totalEncodeTime: Duration = .zero
    /// Of the last frame.
    package var width = 0
    package var height = 0
    package var state = SimulcastEncoder.LayerState()
    var rate = FrameRateMeter()

    /// Frames per second, as they are encoded.
    package var framesPerSecond: Double { framesEncoded > 1 ? rate.framesPerSecond : 0 }
  }

  package var layers: [Layer]
  /// Frames that a newer one replaced before the encoder was free.
  package var framesReplaced: UInt64 = 0
  /// Frames that were left out to keep within a rate.
  package var framesDroppedForRate: UInt64 = 0
  /// Frames that the encoder's rate control left out, or that came while it was being left alone after errors.
  package var framesDroppedByEncoder: UInt64 = 0
  package var encodeErrors: UInt64 = 0
  package var limitation = QualityLimitation()

  init(layerCount: Int) { layers = .init(repeating: Layer(), count: layerCount) }

  /// With what another stage of the same track counted.
  func addingCounters(of other: VideoSendStatistics) -> VideoSendStatistics {
    var sum = self
    for (index, layer) in other.layers.enumerated() where sum.layers.indices.contains(index) {
      sum.layers[index].framesEncoded &+= layer.framesEncoded
      sum.layers[index].keyFramesEncoded &+= layer.keyFramesEncoded
      sum.layers[index].totalEncodeTime += layer.totalEncodeTime
    }
    sum.framesReplaced &+= other.framesReplaced
    sum.framesDroppedForRate &+= other.framesDroppedForRate
    sum.framesDroppedByEncoder &+= other.framesDroppedByEncoder
    sum.encodeErrors &+= other.encodeErrors
    return sum
  }

  mutating func count(_ encoded: SimulcastFrame) {
    guard layers.indices.contains(encoded.layer) else { return }
    layers[encoded.layer].framesEncoded &+= 1
    if encoded.frame.isKeyFrame { layers[encoded.layer].keyFramesEncoded &+= 1 }
    layers[encoded.layer].totalEncodeTime += encoded.encodeTime
    layers[encoded.layer].width = encoded.frame.width
    layers[encoded.layer].height = encoded.frame.height
    layers[encoded.layer].rate.add(encoded.frame.timestamp)
  }
}

/// Frames per second over the last second or so, from capture times.
struct FrameRateMeter: Sendable {
  private var last: Instant?
  private var interval = 1.0 / 30

  mutating func add(_ time: Instant) {
    if let last {
      let elapsed = (time - last).inSeconds
      if elapsed > 0, elapsed < 2 { interval += (elapsed - interval) * 0.1 }
    }
    last = time
  }

  var framesPerSecond: Double { min(120, max(1, (1 / interval).rounded())) }
}
