import CAOM
import SoraCodecs

// Layers: which buffers each layer frame reads and writes.

extension AV1EncoderAdapter {
  /// The size of a spatial layer, as the library rounds it.
  func layerSize(_ layer: Int) -> (width: Int, height: Int) {
    let scale = structure.scale(layer)
    return ((size.width + scale - 1) / scale, (size.height + scale - 1) / scale)
  }

  /// Tells the library the buffers of the layer frame that comes next.
  func setLayer(_ layer: Int, _ position: LayerPosition) throws(CodecError) {
    var id = aom_svc_layer_id_t(
      spatial_layer_id: Int32(layer), temporal_layer_id: Int32(position.temporalLayer))
    try set(AV1E_SET_SVC_LAYER_ID, &id, "set the layer of a frame")

    let frame = position.frame(layer)
    var references = aom_svc_ref_frame_config_t()
    withElements(&references.ref_idx, of: Int32.self) { slots in
      // Unused references stay on a buffer whose frame has this layer's size.
      for index in slots.indices { slots[index] = Int32(frame.reference ?? layer) }
      // The library scales a layer below for its golden frame only.
      if let below = frame.interLayerReference { slots[3] = Int32(below) }
    }
    withElements(&references.reference, of: Int32.self) {
      $0[0] = frame.reference == nil ? 0 : 1
      $0[3] = frame.interLayerReference == nil ? 0 : 1
    }
    if let update = frame.update {
      withElements(&references.refresh, of: Int32.self) { $0[update] = 1 }
    }
    try set(AV1E_SET_SVC_REF_FRAME_CONFIG, &references, "set the references of a frame")
  }
}
