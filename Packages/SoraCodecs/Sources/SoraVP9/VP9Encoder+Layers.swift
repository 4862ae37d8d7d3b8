import CSoraVPX
import CVPX
import SoraCodecs
import SoraMedia

// Layers: which buffers each picture reads and writes, and what the payload descriptor has to say about it.

extension VP9Encoder {
  /// Whether the library's layers are in use at all. Without them it chooses among three references by itself, which
  /// compresses better.
  var isLayered: Bool {
    structure.mode.spatialLayers > 1 || structure.mode.temporalLayers > 1
  }

  /// The size that the library sees: its layers have even sizes only.
  func codedSize(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
    guard structure.mode.spatialLayers > 1 else { return (width, height) }
    return (max(2, width & ~1), max(2, height & ~1))
  }

  /// The size of a spatial layer, as the library rounds it.
  func layerSize(_ layer: Int) -> (width: Int, height: Int) {
    let size = codedSize(settings.width, settings.height)
    guard structure.mode.spatialLayers > 1 else { return size }
    let scale = structure.scale(layer)
    let width = size.width / scale
    let height = size.height / scale
    return (width + width & 1, height + height & 1)
  }

  /// Tells the library the buffers of the picture that comes next.
  func setLayers() throws(CodecError) {
    let temporal = Int32(structure.temporalLayer(patternIndex))
    var id = vpx_svc_layer_id_t()
    id.spatial_layer_id = 0
    id.temporal_layer_id = temporal
    withElements(&id.temporal_layer_id_per_spatial) { ids in
      for layer in 0..<structure.mode.spatialLayers { ids[layer] = temporal }
    }
    try set(VP9E_SET_SVC_LAYER_ID, &id, "set the layers of a frame")

    var references = vpx_svc_ref_frame_config_t()
    for layer in 0..<structure.mode.spatialLayers {
      let frame = structure.frame(index: patternIndex, layer: layer, isKey: needsKeyFrame)
      // Unused references stay on buffers whose pictures have this layer's size.
      withElements(&references.lst_fb_idx) { $0[layer] = Int32(frame.reference ?? layer) }
      withElements(&references.gld_fb_idx) {
        $0[layer] = Int32(frame.interLayerReference ?? layer)
      }
      withElements(&references.alt_fb_idx) { $0[layer] = Int32(layer) }
      if frame.reference != nil { withElements(&references.reference_last) { $0[layer] = 1 } }
      if frame.interLayerReference != nil {
        withElements(&references.reference_golden) { $0[layer] = 1 }
      }
      if let update = frame.update {
        withElements(&references.update_buffer_slot) { $0[layer] = 1 << Int32(update) }
      }
    }
    try set(VP9E_SET_SVC_REF_FRAME_CONFIG, &references, "set the references of a frame")
  }

  /// What the payload descriptor says about the layer frame that has just been made.
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
    _ control: vp8e_enc_control_id, _ value: UnsafeMutableRawPointer, _ operation: String
  ) throws(CodecError) {
    let result = sora_vpx_set_pointer(context, Int32(control.rawValue), value)
    guard result == VPX_CODEC_OK else { throw libraryError(operation, result, context) }
  }
}

/// C's arrays inside of structures come as tuples; this lends one as the array that it is.
func withElements<Tuple>(
  _ tuple: inout Tuple, _ body: (UnsafeMutableBufferPointer<Int32>) -> Void
) {
  withUnsafeMutableBytes(of: &tuple) { body($0.bindMemory(to: Int32.self)) }
}
