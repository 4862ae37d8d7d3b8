import CAOM
import CSoraAOM
import SoraCodecs
import SoraMedia

// Layers: which buffers each layer frame reads and writes, and what descriptors have to say about it.

extension AV1Encoder {
  /// Whether the library's layers are in use at all. Without them it chooses among its references by itself, which
  /// compresses better.
  var isLayered: Bool {
    structure.mode.spatialLayers > 1 || structure.mode.temporalLayers > 1
  }

  /// The size of a spatial layer, as the library rounds it.
  func layerSize(_ layer: Int) -> (width: Int, height: Int) {
    let scale = structure.scale(layer)
    return (
      (settings.width + scale - 1) / scale, (settings.height + scale - 1) / scale
    )
  }

  /// Tells the library the buffers of the layer frame that comes next.
  func setLayer(_ layer: Int, isKey: Bool) throws(CodecError) {
    var id = aom_svc_layer_id_t(
      spatial_layer_id: Int32(layer),
      temporal_layer_id: Int32(structure.temporalLayer(patternIndex)))
    try set(AV1E_SET_SVC_LAYER_ID, &id, "set the layer of a frame")

    let frame = structure.frame(index: patternIndex, layer: layer, isKey: isKey)
    var references = aom_svc_ref_frame_config_t()
    withElements(&references.ref_idx) { slots in
      // Unused references stay on a buffer whose picture has this layer's size.
      for index in slots.indices { slots[index] = Int32(frame.reference ?? layer) }
      // The library scales a layer below for its golden frame only.
      if let below = frame.interLayerReference { slots[3] = Int32(below) }
    }
    withElements(&references.reference) {
      $0[0] = frame.reference == nil ? 0 : 1
      $0[3] = frame.interLayerReference == nil ? 0 : 1
    }
    if let update = frame.update { withElements(&references.refresh) { $0[update] = 1 } }
    try set(AV1E_SET_SVC_REF_FRAME_CONFIG, &references, "set the references of a frame")
  }

  /// What descriptors say about the layer frame that has just been made.
  func describe(layer: Int, end: Int, isKey: Bool) -> SpatialLayerFrame {
    let size = layerSize(layer)
    var made = SpatialLayerFrame(
      spatialLayer: layer, end: end, width: size.width, height: size.height)
    guard isLayered else {
      // The library may refer to older pictures too, but all it needs has gone through the one before.
      if !isKey { made.references.0 = 1 }
      return made
    }
    let frame = structure.frame(index: patternIndex, layer: layer, isKey: isKey)
    made.isInterLayerPredicted = frame.interLayerReference != nil
    if layer + 1 < structure.mode.spatialLayers {
      let above = structure.frame(index: patternIndex, layer: layer + 1, isKey: isKey)
      made.isInterLayerReference = above.interLayerReference != nil
    }
    if let reference = frame.reference {
      made.references.0 = UInt8(clamping: min(127, pictureCount - bufferPictures[reference]))
    }
    return made
  }

  /// Remembers which buffers hold the picture that has just been made.
  func noteUpdates() {
    guard isLayered else { return }
    for layer in 0..<structure.mode.spatialLayers {
      let frame = structure.frame(index: patternIndex, layer: layer, isKey: false)
      if let update = frame.update { bufferPictures[update] = pictureCount }
    }
  }

  func set(
    _ control: aome_enc_control_id, _ value: UnsafeMutableRawPointer, _ operation: String
  ) throws(CodecError) {
    let result = sora_aom_set_pointer(context, Int32(control.rawValue), value)
    guard result == AOM_CODEC_OK else { throw libraryError(operation, result, context) }
  }
}

/// C's arrays inside of structures come as tuples; this lends one as the array that it is.
func withElements<Tuple>(
  _ tuple: inout Tuple, _ body: (UnsafeMutableBufferPointer<Int32>) -> Void
) {
  withUnsafeMutableBytes(of: &tuple) { body($0.bindMemory(to: Int32.self)) }
}
