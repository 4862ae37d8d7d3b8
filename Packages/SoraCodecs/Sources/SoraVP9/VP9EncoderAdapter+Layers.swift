import CSoraVPX
import SoraCodecs
import SoraVPX

// Spatial and temporal layers: how the library is set up for them, and which buffers each frame reads and writes.

extension VP9EncoderAdapter {
  /// The size of a spatial layer, as the library rounds it.
  func layerSize(_ layer: Int) -> (width: Int, height: Int) {
    guard structure.mode.spatialLayers > 1 else { return (size.width, size.height) }
    let scale = structure.scale(layer)
    let width = size.width / scale
    let height = size.height / scale
    return (width + width & 1, height + height & 1)
  }

  func startLayers(_ settings: VideoEncoderSettings) throws(CodecError) {
    try encoder.set(VP9E_SET_SVC, 1, "turn on layers")
    var parameters = vpx_svc_extra_cfg_t()
    let count = structure.mode.spatialLayers * structure.mode.temporalLayers
    let minimum = unsafe Int32(encoder.configuration.rc_min_quantizer)
    let maximum = unsafe Int32(encoder.configuration.rc_max_quantizer)
    withElements(&parameters.min_quantizers, of: Int32.self) {
      for layer in 0..<count { $0[layer] = minimum }
    }
    withElements(&parameters.max_quantizers, of: Int32.self) {
      for layer in 0..<count { $0[layer] = maximum }
    }
    for layer in 0..<structure.mode.spatialLayers {
      let size = layerSize(layer)
      let speed = Int32(settings.speed ?? Self.speed(size.width, size.height))
      let scale = Int32(structure.scale(layer))
      withElements(&parameters.scaling_factor_num, of: Int32.self) { $0[layer] = 1 }
      withElements(&parameters.scaling_factor_den, of: Int32.self) { $0[layer] = scale }
      withElements(&parameters.speed_per_layer, of: Int32.self) { $0[layer] = speed }
      withElements(&parameters.loopfilter_ctrl, of: Int32.self) { $0[layer] = 0 }
    }
    parameters.temporal_layering_mode = Int32(VP9E_TEMPORAL_LAYERING_MODE_BYPASS.rawValue)
    try encoder.exchange(VP9E_SET_SVC_PARAMETERS, &parameters, "describe its layers")

    // What isn't referred to, as `ScalabilityStructure` says, isn't looked at either.
    let prediction =
      switch structure.mode.prediction {
      case .full: 0
      case .none: 1
      case .keyOnly: 2
      }
    try encoder.set(
      VP9E_SET_SVC_INTER_LAYER_PRED, prediction, "set how its layers depend on each other")

    // A frame is dropped with all its layers or not at all, so that ours and the library's patterns agree.
    var dropping = vpx_svc_frame_drop_t()
    let threshold = unsafe Int32(encoder.configuration.rc_dropframe_thresh)
    withElements(&dropping.framedrop_thresh, of: Int32.self) {
      for layer in 0..<structure.mode.spatialLayers { $0[layer] = threshold }
    }
    dropping.framedrop_mode = FULL_SUPERFRAME_DROP
    dropping.max_consec_drop = .max
    try encoder.exchange(
      VP9E_SET_SVC_FRAME_DROP_LAYER, &dropping, "set how its layers are dropped")

    // The pointer stays valid: `encoder` goes with its owner, and the library calls only while it encodes.
    var callback = unsafe vpx_codec_priv_output_cx_pkt_cb_pair_t(
      output_cx_pkt: { packet, owner in
        guard let packet = unsafe packet, let owner = unsafe owner else { return }
        unsafe Unmanaged<VP9EncoderAdapter>.fromOpaque(owner).takeUnretainedValue()
          .collect(packet.pointee)
      }, user_priv: Unmanaged.passUnretained(self).toOpaque())
    try unsafe encoder.exchange(VP9E_REGISTER_CX_CALLBACK, &callback, "hand out its layers")
  }

  /// Tells the library the buffers of the frame that comes next.
  func setLayers(_ position: LayerPosition) throws(CodecError) {
    let spatialLayers = structure.mode.spatialLayers
    let temporal = Int32(position.temporalLayer)
    var id = vpx_svc_layer_id_t()
    id.spatial_layer_id = 0
    id.temporal_layer_id = temporal
    withElements(&id.temporal_layer_id_per_spatial, of: Int32.self) { ids in
      for layer in 0..<spatialLayers { ids[layer] = temporal }
    }
    try encoder.exchange(VP9E_SET_SVC_LAYER_ID, &id, "set the layers of a frame")

    var references = vpx_svc_ref_frame_config_t()
    for layer in 0..<spatialLayers {
      let frame = position.frame(layer)
      // Unused references stay on buffers whose frames have this layer's size.
      let own = Int32(frame.reference ?? layer)
      let below = Int32(frame.interLayerReference ?? layer)
      withElements(&references.lst_fb_idx, of: Int32.self) { $0[layer] = own }
      withElements(&references.gld_fb_idx, of: Int32.self) { $0[layer] = below }
      withElements(&references.alt_fb_idx, of: Int32.self) { $0[layer] = Int32(layer) }
      if frame.reference != nil {
        withElements(&references.reference_last, of: Int32.self) { $0[layer] = 1 }
      }
      if frame.interLayerReference != nil {
        withElements(&references.reference_golden, of: Int32.self) { $0[layer] = 1 }
      }
      if let update = frame.update {
        withElements(&references.update_buffer_slot, of: Int32.self) {
          $0[layer] = 1 << Int32(update)
        }
      }
    }
    try encoder.exchange(
      VP9E_SET_SVC_REF_FRAME_CONFIG, &references, "set the references of a frame")
  }
}
