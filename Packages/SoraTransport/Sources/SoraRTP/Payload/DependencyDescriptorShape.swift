import SoraMedia

/// The layers of a stream, and the structure that describes them: a decode target for every spatial and temporal layer, and a
/// chain for every spatial one.
struct DependencyDescriptorShape: Equatable {
  let spatialLayers: Int
  let temporalLayers: Int
  /// Empty where a size isn't known.
  let resolutions: [DependencyDescriptor.Resolution]

  var targetCount: Int { spatialLayers * temporalLayers }

  /// Of a key frame.
  init(_ frame: EncodedFrame) {
    let layers = frame.layers
    spatialLayers = max(
      1, min(max(layers.spatialLayerCount, layers.count), EncodedFrameLayers.maximumSpatialLayers))
    temporalLayers = max(1, min(layers.temporalLayerCount, 4))
    var sizes: [DependencyDescriptor.Resolution] = []
    for index in 0..<spatialLayers {
      let size =
        index < layers.count
        ? (layers[index].width, layers[index].height) : (frame.width, frame.height)
      guard (1...65_536).contains(size.0), (1...65_536).contains(size.1) else { break }
      sizes.append(.init(width: size.0, height: size.1))
    }
    resolutions = sizes.count == spatialLayers ? sizes : []
  }

  /// What a frame is to a decode target.
  ///
  /// - Parameter reach: the highest layer of the picture that builds upon the frame.
  func indication(
    _ target: Int, layer: Int, _ temporal: Int, reach: Int, isKey: Bool, isSwitchingPoint: Bool
  ) -> DependencyDescriptor.Indication {
    let (spatial, time) = target.quotientAndRemainder(dividingBy: temporalLayers)
    guard temporal <= time, layer <= spatial, spatial <= reach else { return .notPresent }
    if isKey { return .switch }
    if layer < spatial { return .required }
    if temporal > 0, temporal == time { return .discardable }
    return isSwitchingPoint || temporalLayers == 1 ? .switch : .required
  }

  /// The structure, with templates for the usual patterns (W3C webrtc-svc's L modes): frames refer to the base layer of the
  /// picture that began the pattern, and in three temporal layers the last one to the middle one. Frames that do otherwise
  /// say so themselves.
  func structure(templateIDOffset: Int) -> DependencyDescriptor.Structure {
    var structure = DependencyDescriptor.Structure()
    structure.templateIDOffset = templateIDOffset
    structure.decodeTargetCount = targetCount
    structure.chainCount = spatialLayers
    structure.protectingChains = (0..<targetCount).map { $0 / temporalLayers }
    structure.resolutions = resolutions
    let period = 1 << (temporalLayers - 1)
    for layer in 0..<spatialLayers {
      for temporal in 0..<temporalLayers {
        if temporal == 0 {
          structure.templates.append(template(layer, 0, position: 0, period, isKey: true))
        }
        for position in 0..<period where self.temporal(position) == temporal {
          structure.templates.append(
            template(layer, temporal, position: position, period, isKey: false))
        }
      }
    }
    return structure
  }

  /// The temporal layer at a position of the pattern: as often as two goes into it.
  private func temporal(_ position: Int) -> Int {
    position == 0 ? 0 : temporalLayers - 1 - position.trailingZeroBitCount
  }

  private func template(
    _ layer: Int, _ temporal: Int, position: Int, _ period: Int, isKey: Bool
  ) -> DependencyDescriptor.Template {
    var template = DependencyDescriptor.Template(spatialLayer: layer, temporalLayer: temporal)
    template.indications = (0..<targetCount).map {
      indication(
        $0, layer: layer, temporal, reach: spatialLayers - 1, isKey: isKey, isSwitchingPoint: true)
    }
    if layer > 0 { template.frameDifferences.append(1) }
    if !isKey {
      // To the base layer's picture; the second of the highest of three layers to the middle one's.
      let back = position == 0 ? period : temporalLayers == 3 && position == 3 ? 1 : position
      let difference = min(16, back * spatialLayers)
      if !template.frameDifferences.contains(difference) {
        template.frameDifferences.append(difference)
      }
    }
    template.chainDifferences = (0..<spatialLayers).map { chain in
      if isKey { return layer == 0 ? 0 : min(layer, chain >= layer ? 1 : layer - chain) }
      if position > 0 { return min(15, position * spatialLayers + layer - chain) }
      if chain < layer { return layer - chain }
      return layer > 0 ? 1 : min(15, period * spatialLayers - chain)
    }
    return template
  }
}
