import CSoraVPX
import SoraCodecs
import SoraVPX

/// VP9 over libvpx, with temporal and spatial layers.
///
/// With several spatial layers a frame holds all of them, lowest first. With layers of any kind, sizes are rounded down to
/// even numbers.
final class VP9EncoderAdapter: VPXEncoderAdapter {
  static let kind = VideoCodecKind.vp9
  static var implementationName: String { VPXLibrary.name }
  static let scalabilityModes = ScalabilityMode.all
  static let traits = EncoderTraits(has10Bits: true)

  let encoder = VPXEncoder(.vp9)
  private(set) var structure = ScalabilityStructure(.l1t1)
  private(set) var size = EncoderSizePlan(width: 0, height: 0)
  /// Where the callback puts the layers of the frame that is being encoded.
  private var output: EncoderOutput?

  /// The library's layers have even sizes only: of others it says on standard output, with each frame, that it made them
  /// fit.
  static func plan(_ settings: VideoEncoderSettings) -> EncoderSizePlan {
    guard settings.scalabilityMode.isLayered else {
      return EncoderSizePlan(width: settings.width, height: settings.height)
    }
    return EncoderSizePlan(
      width: max(2, settings.width & ~1), height: max(2, settings.height & ~1))
  }

  func open(_ plan: EncoderSizePlan, _ settings: VideoEncoderSettings, _ rates: EncoderRates)
    throws(CodecError)
  {
    size = plan
    structure = ScalabilityStructure(settings.scalabilityMode)
    let threads = settings.threadCount(width: plan.width, height: plan.height)
    try encoder.configure(settings, width: plan.width, height: plan.height, threads: threads)
    unsafe encoder.configuration.rc_undershoot_pct = 50
    unsafe encoder.configuration.rc_overshoot_pct = 50
    fill(rates)
    try encoder.open(settings, speed: settings.speed ?? Self.speed(plan.width, plan.height))
    try setTools(settings, threads: threads)
    try encoder.limitKeyFrames(rates)
    if structure.mode.isLayered { try startLayers(settings) }
  }

  func encode(_ picture: EncoderPicture, _ order: FrameOrder, into output: EncoderOutput)
    throws(CodecError)
  {
    let isLayered = structure.mode.isLayered
    if isLayered { try setLayers(order.layers) }
    self.output = output
    defer { self.output = nil }
    try unsafe encoder.encode(
      picture, width: size.width, height: size.height, order, flags: 0
    ) { packet in
      // Layered frames have come through the callback by now.
      if !isLayered, unsafe output.append(packet) {
        output.endLayer(0, width: size.width, height: size.height)
      }
    }
  }

  /// Takes one spatial layer of the frame that is being encoded.
  func collect(_ packet: vpx_codec_cx_pkt_t) {
    guard let output, unsafe output.append(packet, parts: structure.mode.spatialLayers) else {
      return
    }
    var id = vpx_svc_layer_id_t()
    let isKnown = (try? encoder.exchange(VP9E_GET_SVC_LAYER_ID, &id, "tell a layer")) != nil
    let layer = isKnown ? Int(id.spatial_layer_id) : output.layerCount
    let size = layerSize(layer)
    output.endLayer(layer, width: size.width, height: size.height)
  }
}
