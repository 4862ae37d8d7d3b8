public import SoraMedia

/// Makes the dependency descriptors of one outgoing stream: numbers its layer frames, and says of each which others it needs
/// (RTP Payload Format For AV1, appendix A). A structure goes along with the first packet of every key frame.
///
/// Confined to the owner of the stream. Allocates when a key frame changes the structure, else nothing in steady state.
@safe public final class DependencyDescriptorSender {
  /// Pictures that a frame may refer back to: what `SpatialLayerFrame.references` can say.
  private static let pictureWindow = 128
  private static let slot = DependencyDescriptor.maximumCount

  private var shape: DependencyDescriptorShape?
  private var structure: DependencyDescriptor.Structure?
  private var descriptor = DependencyDescriptor()
  private var frameNumber: UInt16
  private var picture = 0
  /// The numbers of the layer frames of the last pictures, by picture and layer; -1 for none.
  private var numbers: [Int32]
  /// The number of the last frame of each chain.
  private var chains: [UInt16] = []
  /// Descriptors of the picture in work: of each layer frame one for its first packet and one for the others.
  private let memory: UnsafeMutableRawBufferPointer
  private var counts: [Int]

  /// Frame numbers start at random, as sequence numbers do.
  public init(random: RandomSource) {
    frameNumber = UInt16(truncatingIfNeeded: random.next())
    let layers = EncodedFrameLayers.maximumSpatialLayers
    numbers = Array(repeating: -1, count: Self.pictureWindow * layers)
    unsafe memory = .allocate(byteCount: 2 * layers * Self.slot, alignment: 16)
    counts = Array(repeating: 0, count: 2 * layers)
  }

  deinit { unsafe memory.deallocate() }

  /// Starts on a picture and returns the bytes of its longest descriptor; 0 where it can't be described, as before the
  /// first key frame.
  public func begin(_ frame: EncodedFrame) -> Int {
    for index in counts.indices { counts[index] = 0 }
    if frame.isKeyFrame { start(frame) }
    guard let shape, structure != nil else { return 0 }
    picture += 1
    let row = picture % Self.pictureWindow * EncodedFrameLayers.maximumSpatialLayers
    for layer in 0..<EncodedFrameLayers.maximumSpatialLayers { numbers[row + layer] = -1 }
    let temporal = max(0, min(frame.temporalLayer, shape.temporalLayers - 1))
    var longest = 0
    for index in 0..<max(1, min(frame.layers.count, EncodedFrameLayers.maximumSpatialLayers)) {
      let part = frame.layers.count > 0 ? frame.layers[index] : Self.plain(frame)
      guard (0..<shape.spatialLayers).contains(part.spatialLayer) else { continue }
      describe(part, at: index, of: frame, temporal, shape)
      numbers[row + part.spatialLayer] = Int32(frameNumber)
      frameNumber &+= 1
      longest = max(longest, write(index, isKey: frame.isKeyFrame && index == 0))
    }
    return longest
  }

  /// The descriptor for a packet of the picture; empty where it has none. Valid until the next call.
  public func descriptor(of part: RTPLayerPart) -> UnsafeRawBufferPointer {
    let index = 2 * part.layer + (part.isFirst ? 0 : 1)
    guard counts.indices.contains(index), counts[index] > 0 else {
      return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    }
    let start = index * Self.slot
    unsafe memory[start] =
      unsafe memory[start] & 0x3F | (part.isFirst ? 0x80 : 0) | (part.isLast ? 0x40 : 0)
    return unsafe UnsafeRawBufferPointer(memory).part(start, counts[index])
  }

  /// A frame without a description: one layer, which needs the frame before.
  private static func plain(_ frame: EncodedFrame) -> SpatialLayerFrame {
    SpatialLayerFrame(
      end: frame.payload.count, width: frame.width, height: frame.height,
      references: (frame.isKeyFrame ? 0 : 1, 0, 0))
  }

  /// A key frame begins: everything before is forgotten.
  private func start(_ frame: EncodedFrame) {
    for index in numbers.indices { numbers[index] = -1 }
    let wanted = DependencyDescriptorShape(frame)
    guard wanted != shape else { return }
    let offset = structure.map { ($0.templateIDOffset + $0.templates.count) % 64 } ?? 0
    shape = wanted
    structure = wanted.structure(templateIDOffset: offset)
    chains = Array(repeating: 0, count: wanted.spatialLayers)
  }

  /// Fills `descriptor` with what the frame needs and is for.
  private func describe(
    _ part: SpatialLayerFrame, at index: Int, of frame: EncodedFrame, _ temporal: Int,
    _ shape: DependencyDescriptorShape
  ) {
    descriptor.frameNumber = frameNumber
    descriptor.frame.spatialLayer = part.spatialLayer
    descriptor.frame.temporalLayer = temporal
    descriptor.frame.frameDifferences.removeAll(keepingCapacity: true)
    if part.isInterLayerPredicted, part.spatialLayer > 0 {
      refer(toPicture: 0, layer: part.spatialLayer - 1)
    }
    for back in 0..<3 {
      let pictures =
        back == 0 ? part.references.0 : back == 1 ? part.references.1 : part.references.2
      if pictures > 0 { refer(toPicture: Int(pictures), layer: part.spatialLayer) }
    }
    // Up to which layer the layers above build upon this frame in its own picture.
    var reach = part.spatialLayer
    while index + reach - part.spatialLayer < frame.layers.count,
      frame.layers[index + reach - part.spatialLayer].isInterLayerReference
    {
      reach += 1
    }
    descriptor.frame.indications.removeAll(keepingCapacity: true)
    for target in 0..<shape.targetCount {
      descriptor.frame.indications.append(
        shape.indication(
          target, layer: part.spatialLayer, temporal, reach: reach, isKey: frame.isKeyFrame,
          isSwitchingPoint: frame.layers.isSwitchingPoint))
    }
    descriptor.frame.chainDifferences.removeAll(keepingCapacity: true)
    for chain in chains.indices {
      let isFirst = frame.isKeyFrame && index == 0
      let back = isFirst ? 0 : min(255, frameNumber &- chains[chain])
      descriptor.frame.chainDifferences.append(Int(back))
    }
    for chain in chains.indices {
      let isPart =
        descriptor.frame.indications[chain * shape.temporalLayers] != .notPresent && temporal == 0
      // A key frame is the beginning of every chain.
      if isPart || (frame.isKeyFrame && index == 0) { chains[chain] = frameNumber }
    }
  }

  /// Notes that the frame needs another one, `back` pictures ago.
  private func refer(toPicture back: Int, layer: Int) {
    guard back < Self.pictureWindow, picture - back > 0 else { return }
    let row = (picture - back) % Self.pictureWindow * EncodedFrameLayers.maximumSpatialLayers
    guard numbers[row + layer] >= 0 else { return }
    let difference = Int(frameNumber &- UInt16(truncatingIfNeeded: numbers[row + layer]))
    guard (1...4096).contains(difference),
      !descriptor.frame.frameDifferences.contains(difference)
    else { return }
    descriptor.frame.frameDifferences.append(difference)
  }

  /// Writes both forms of the frame's descriptor, and returns the bytes of the longer.
  private func write(_ index: Int, isKey: Bool) -> Int {
    guard let structure else { return 0 }
    descriptor.templateID = template(in: structure)
    for form in 0..<2 {
      descriptor.structure = isKey && form == 0 ? structure : nil
      descriptor.activeDecodeTargets = nil
      if isKey, form == 0 {
        descriptor.activeDecodeTargets = UInt32(
          truncatingIfNeeded: (UInt64(1) << structure.decodeTargetCount) - 1)
      }
      let start = (2 * index + form) * Self.slot
      let room = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + Self.slot])
      counts[2 * index + form] =
        unsafe (try? descriptor.write(into: room, structure: structure)) ?? 0
    }
    descriptor.structure = nil
    return max(counts[2 * index], counts[2 * index + 1])
  }

  /// The template that says most of the frame, of those of its layers.
  private func template(in structure: DependencyDescriptor.Structure) -> Int {
    var best = 0
    var bestScore = -1
    for index in structure.templates.indices {
      let isOfLayers =
        structure.templates[index].spatialLayer == descriptor.frame.spatialLayer
        && structure.templates[index].temporalLayer == descriptor.frame.temporalLayer
      guard isOfLayers else { continue }
      let score =
        (structure.templates[index].frameDifferences == descriptor.frame.frameDifferences ? 1 : 0)
        + (structure.templates[index].chainDifferences == descriptor.frame.chainDifferences ? 1 : 0)
        + (structure.templates[index].indications == descriptor.frame.indications ? 1 : 0)
      if score > bestScore {
        best = index
        bestScore = score
      }
    }
    return (structure.templateIDOffset + best) % 64
  }
}
