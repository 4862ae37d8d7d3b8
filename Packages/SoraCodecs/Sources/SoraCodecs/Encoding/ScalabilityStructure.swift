/// Which frames of a layered stream refer to which: the structures of W3C webrtc-svc, for codecs with eight reference
/// buffers (VP9 and AV1).
///
/// Buffer `s` holds the base temporal layer of spatial layer `s`, buffer 3 + `s` its middle temporal layer; buffers 6 and
/// 7 pass a frame that nobody needs later on to the layer above. Every frame refers to one earlier picture at most: more
/// references cost time and gain little at the speeds of calls.
package struct ScalabilityStructure {
  /// What one layer frame reads and writes; buffers are 0..<8.
  package struct LayerFrame: Equatable {
    /// The buffer of the earlier picture that it is predicted from.
    package var reference: Int?
    /// The buffer of the layer below of the same picture that it is predicted from.
    package var interLayerReference: Int?
    /// The buffer that it is kept in.
    package var update: Int?
  }

  /// The buffer of the middle temporal layer of the lowest spatial layer.
  package static let middleBuffer = 3

  package let mode: ScalabilityMode

  package init(_ mode: ScalabilityMode) { self.mode = mode }

  /// Pictures until the pattern repeats.
  package var period: Int { 1 << (mode.temporalLayers - 1) }

  /// The temporal layer of picture `index` of the pattern: 0 1 | 0 2 1 2.
  package func temporalLayer(_ index: Int) -> Int {
    switch (mode.temporalLayers, index) {
    case (2, 1), (3, 2): 1
    case (3, 1), (3, 3): 2
    default: 0
    }
  }

  /// What spatial layer `layer` of picture `index` does. `isKey` is for the picture that starts over, whose index is 0.
  package func frame(index: Int, layer: Int, isKey: Bool) -> LayerFrame {
    let temporal = temporalLayer(index)
    var frame = LayerFrame()
    if !isKey {
      // The second frame of the highest layer of three builds upon the middle layer.
      frame.reference = mode.temporalLayers == 3 && index == 3 ? 3 + layer : layer
    }
    let isLinked = mode.prediction == .full || (mode.prediction == .keyOnly && isKey)
    if layer > 0, isLinked {
      frame.interLayerReference = Self.buffer(
        temporal, layer - 1, middle: mode.temporalLayers == 3, scratch: true)
    }
    let feedsNext = isLinked && layer + 1 < mode.spatialLayers
    frame.update = Self.buffer(
      temporal, layer, middle: mode.temporalLayers == 3, scratch: feedsNext)
    return frame
  }

  private static func buffer(_ temporal: Int, _ layer: Int, middle: Bool, scratch: Bool) -> Int? {
    if temporal == 0 { return layer }
    if temporal == 1, middle { return 3 + layer }
    return scratch ? 6 + layer : nil
  }

  /// The share of each spatial layer in the bitrate, lowest first; they sum to 1.
  ///
  /// A layer of four times the pixels needs about two and a half times the bits for the same quality; independent layers
  /// the same.
  package var spatialShares: [Double] {
    let weights = (0..<mode.spatialLayers).map { layer in
      (0..<layer).reduce(1.0) { product, _ in product * 2.5 }
    }
    let sum = weights.reduce(0, +)
    return weights.map { $0 / sum }
  }

  /// Shares of a layer's bitrate up to and including each temporal layer.
  package var cumulativeTemporalShares: [Double] {
    switch mode.temporalLayers {
    case 2: [0.6, 1]
    case 3: [0.5, 0.7, 1]
    default: [1]
    }
  }

  /// By how much the frame rate of each temporal layer, with those below, is smaller than the whole.
  package var rateDecimators: [Int] {
    (0..<mode.temporalLayers).map { 1 << (mode.temporalLayers - 1 - $0) }
  }

  /// By how much the width and height of spatial layer `layer` are smaller than the whole.
  package func scale(_ layer: Int) -> Int { 1 << (mode.spatialLayers - 1 - layer) }
}
