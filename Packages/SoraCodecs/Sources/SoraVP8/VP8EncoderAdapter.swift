import CSoraVPX
import SoraCodecs
import SoraVPX

/// VP8 over libvpx, with temporal layers.
final class VP8EncoderAdapter: VPXEncoderAdapter {
  static let kind = VideoCodecKind.vp8
  static var implementationName: String { VPXLibrary.name }
  static let scalabilityModes: [ScalabilityMode] = [.l1t1, .l1t2, .l1t3]
  // Its header has a bit for the colours, of which one value is defined: BT.601, limited (RFC 6386 §9.2).
  static let traits = EncoderTraits(tellsColorSpace: false)

  let encoder = VPXEncoder(.vp8)
  private var temporalLayers = 1

  static func plan(_ settings: VideoEncoderSettings) -> EncoderSizePlan {
    EncoderSizePlan(width: settings.width, height: settings.height)
  }

  func open(_ plan: EncoderSizePlan, _ settings: VideoEncoderSettings, _ rates: EncoderRates)
    throws(CodecError)
  {
    temporalLayers = settings.scalabilityMode.temporalLayers
    // libvpx's VP8 threads wait for each other by spinning: on cores that others want too, two of them at 720p took seven
    // times the CPU and gave a fifth of the frames of one. One thread encodes 720p30 in a quarter of a core.
    let threads = settings.frugalThreadCount(width: plan.width, height: plan.height)
    try encoder.configure(settings, width: plan.width, height: plan.height, threads: threads)
    unsafe encoder.configuration.rc_undershoot_pct = 100
    unsafe encoder.configuration.rc_overshoot_pct = 15
    fill(rates)
    try encoder.open(
      settings, speed: settings.speed ?? Self.speed(plan.width, plan.height))
    try encoder.set(VP8E_SET_NOISE_SENSITIVITY, 0, "set its noise sensitivity")
    // One partition a thread, for the sake of decoders with threads of their own.
    try encoder.set(
      VP8E_SET_TOKEN_PARTITIONS, threads >= 4 ? 2 : threads >= 2 ? 1 : 0,
      "set its token partitions")
    try encoder.set(
      VP8E_SET_SCREEN_CONTENT_MODE, settings.contentHint == .text ? 1 : 0, "set its content mode")
    try encoder.limitKeyFrames(rates)
  }

  func encode(_ picture: EncoderPicture, _ order: FrameOrder, into output: EncoderOutput)
    throws(CodecError)
  {
    var flags: Int32 = 0
    if temporalLayers > 1 {
      flags = Self.flags(order.layers)
      try encoder.set(
        VP8E_SET_TEMPORAL_LAYER_ID, order.layers.temporalLayer, "set the temporal layer")
    }
    try unsafe encoder.encode(
      picture, width: picture.width, height: picture.height, order, flags: flags
    ) { unsafe output.append($0) }
  }

  /// Which buffers a frame reads and writes. Base-layer frames live in the "last" buffer, those of a middle layer in the
  /// golden one; frames of the highest layer are kept nowhere, and no layer but the base moves the entropy contexts on.
  private static func flags(_ position: LayerPosition) -> Int32 {
    let frame = position.frame(0)
    // What builds upon the middle layer may refer to the base, too.
    var flags = VP8_EFLAG_NO_REF_ARF | VP8_EFLAG_NO_UPD_ARF
    if frame.reference != ScalabilityStructure.middleBuffer { flags |= VP8_EFLAG_NO_REF_GF }
    if frame.update != ScalabilityStructure.middleBuffer { flags |= VP8_EFLAG_NO_UPD_GF }
    if frame.update != 0 { flags |= VP8_EFLAG_NO_UPD_LAST | VP8_EFLAG_NO_UPD_ENTROPY }
    return flags
  }

  func fill(_ rates: EncoderRates) {
    let kilobits = UInt32(rates.kilobitsPerSecond)
    unsafe encoder.configuration.rc_target_bitrate = kilobits
    unsafe encoder.configuration.ts_number_layers = UInt32(temporalLayers)
    guard temporalLayers > 1 else { return }
    // Percent of the bitrate up to and including each layer. The lowest of three is what a server sends over a link that is a third
    // as wide as the stream: its frames get a little less than the others.
    let shares: [UInt32] = temporalLayers == 2 ? [60, 100] : [20, 42, 100]
    let pattern: [UInt32] = temporalLayers == 2 ? [0, 1] : [0, 2, 1, 2]
    unsafe encoder.configuration.ts_periodicity = UInt32(pattern.count)
    unsafe withElements(&encoder.configuration.ts_target_bitrate, of: UInt32.self) { rates in
      for (layer, share) in shares.enumerated() {
        rates[layer] = max(1, kilobits * share / 100)
      }
    }
    unsafe withElements(&encoder.configuration.ts_rate_decimator, of: UInt32.self) { decimators in
      for layer in shares.indices { decimators[layer] = 1 << UInt32(shares.count - 1 - layer) }
    }
    unsafe withElements(&encoder.configuration.ts_layer_id, of: UInt32.self) { layers in
      for (index, layer) in pattern.enumerated() { layers[index] = layer }
    }
  }

  /// The library's speed. Negative means fixed, so that quality doesn't depend on how busy the machine is.
  ///
  /// Measured on a moving pattern at 720p30 and 2 Mbit/s (2.5 GHz Xeon, one thread): -6 takes 8.4 ms a frame, -8 takes
  /// 7.0 ms and loses 1.8 dB, -12 takes 5.3 ms and loses 2.9 dB. Small frames leave time for -4, worth 1 dB.
  private static func speed(_ width: Int, _ height: Int) -> Int {
    switch width &* height {
    case ...(352 * 288): -4
    case ...(1280 * 720): -6
    default: -8
    }
  }
}
