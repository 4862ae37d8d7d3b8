import SoraMedia

/// A frame's place in the pattern of layers.
package struct LayerPosition: Sendable {
  package let structure: ScalabilityStructure
  /// Frames since the pattern began, less than its period.
  package let index: Int
  package let isKeyFrame: Bool

  package var temporalLayer: Int { structure.temporalLayer(index) }

  /// What spatial layer `layer` of the frame reads and writes.
  package func frame(_ layer: Int) -> ScalabilityStructure.LayerFrame {
    structure.frame(index: index, layer: layer, isKey: isKeyFrame)
  }
}

/// Walks the pattern of layers and remembers which earlier frames the reference buffers hold, so that each frame can say
/// what it needs.
struct EncoderLayers {
  let structure: ScalabilityStructure
  private var index = 0
  /// Frames that were made, and which of them each reference buffer holds.
  private var frameCount = 0
  private var bufferFrames = [Int](repeating: 0, count: 8)
  /// Frames since the last one of the base layer.
  private var sinceBase = 0

  init(_ mode: ScalabilityMode) { structure = ScalabilityStructure(mode) }

  /// Where the next frame stands; a key frame begins the pattern anew.
  mutating func next(isKeyFrame: Bool) -> LayerPosition {
    if isKeyFrame { index = 0 }
    return LayerPosition(structure: structure, index: index, isKeyFrame: isKeyFrame)
  }

  /// Notes that the frame at `position` was made, and says what its descriptors have to.
  mutating func made(_ position: LayerPosition, _ output: EncoderOutput) -> (
    temporalLayer: Int, layers: EncodedFrameLayers
  ) {
    let mode = structure.mode
    let temporal = output.temporalLayer ?? position.temporalLayer
    sinceBase = temporal == 0 ? 0 : sinceBase + 1
    if output.isKeyFrame {
      for buffer in bufferFrames.indices { bufferFrames[buffer] = frameCount }
    }
    var layers = EncodedFrameLayers()
    for number in 0..<output.layers.count {
      layers.append(described(output.layers[number], position, isKeyFrame: output.isKeyFrame))
    }
    layers.temporalLayerCount = mode.temporalLayers
    layers.spatialLayerCount = mode.spatialLayers
    // Right behind the base layer a frame can refer to nothing else, and the lowest of the upper layers never does.
    layers.isLayerSync = temporal == 1 || (temporal > 1 && sinceBase == 1)
    // Upper layers never reach back beyond the base layer before them.
    layers.isSwitchingPoint = mode.isLayered
    layers.isReferenced = temporal == 0 || temporal < mode.temporalLayers - 1
    noteUpdates(position)
    index = (index + 1) % structure.period
    frameCount += 1
    return (temporal, layers)
  }

  private func described(
    _ end: SpatialLayerFrame, _ position: LayerPosition, isKeyFrame: Bool
  ) -> SpatialLayerFrame {
    var layer = end
    guard structure.mode.isLayered else {
      // The library may refer to older frames too, but all it needs has gone through the one before.
      if !isKeyFrame { layer.references.0 = 1 }
      return layer
    }
    func frame(_ number: Int) -> ScalabilityStructure.LayerFrame {
      structure.frame(index: position.index, layer: number, isKey: isKeyFrame)
    }
    let own = frame(end.spatialLayer)
    layer.isInterLayerPredicted = own.interLayerReference != nil
    if end.spatialLayer + 1 < structure.mode.spatialLayers {
      layer.isInterLayerReference = frame(end.spatialLayer + 1).interLayerReference != nil
    }
    if let reference = own.reference {
      layer.references.0 = UInt8(clamping: min(127, frameCount - bufferFrames[reference]))
    }
    return layer
  }

  private mutating func noteUpdates(_ position: LayerPosition) {
    guard structure.mode.isLayered else { return }
    for layer in 0..<structure.mode.spatialLayers {
      let frame = structure.frame(index: position.index, layer: layer, isKey: false)
      if let update = frame.update { bufferFrames[update] = frameCount }
    }
  }
}
