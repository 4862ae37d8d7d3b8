package import SoraMedia

/// The encoder that all libraries share: it checks settings, follows the size of frames, keeps the rate, chooses key
/// frames and layers, and pools memory. The library behind its adapter compresses.
///
/// Steady state allocates nothing. Confined to one serial executor or thread, as `VideoEncoder` says.
package final class EncoderDriver<Adapter: EncoderAdapter>: VideoEncoder {
  package private(set) var settings: VideoEncoderSettings

  private let adapter: Adapter
  private let output = EncoderOutput()
  private var layers: EncoderLayers
  private var rateControl = EncoderRateControl(Adapter.traits)
  private var chroma = PlanarChroma()
  private let takesInterleavedChroma = Adapter.traits.takesInterleavedChroma
  private var codedSize = (width: 0, height: 0)
  private var isOpen = false
  private var needsKeyFrame = true
  private var frameCount: Int64 = 0

  /// Starts an encoder. Throws `CodecError.invalidSetting` or `CodecError.library`.
  package init(_ settings: VideoEncoderSettings) throws(CodecError) {
    try settings.validate(modes: Adapter.scalabilityModes)
    let plan = try Adapter.plan(settings)
    self.settings = settings
    layers = EncoderLayers(settings.scalabilityMode)
    adapter = try Adapter()
    try open(plan)
  }

  deinit {
    if isOpen { adapter.close() }
  }

  package var kind: VideoCodecKind { Adapter.kind }
  package var implementationName: String { Adapter.implementationName }

  package func setRates(targetBitsPerSecond: Int, framesPerSecond: Double) {
    _ = settings.takeRates(
      targetBitsPerSecond: targetBitsPerSecond, framesPerSecond: framesPerSecond)
  }

  package func encode(_ frame: RawVideoFrame, forceKeyFrame: Bool, rtpTimestamp: UInt32)
    throws(CodecError) -> EncodedFrame?
  {
    if forceKeyFrame { needsKeyFrame = true }
    guard settings.targetBitsPerSecond > 0 else { return nil }
    try follow(frame.buffer)
    let isOwing = rateControl.advance(to: frame.timestamp, settings)
    if let rates = rateControl.changes(settings) {
      try adapter.setRates(rates)
      rateControl.told(rates)
    }
    if isOwing, !needsKeyFrame { return nil }

    let position = layers.next(isKeyFrame: needsKeyFrame)
    let order = FrameOrder(
      number: frameCount, ticks: rateControl.ticks,
      duration: Int64(90_000 / settings.framesPerSecond), isKeyFrame: needsKeyFrame,
      quantizer: rateControl.quantizer(for: frame.buffer, isKeyFrame: needsKeyFrame, settings),
      layers: position)
    frameCount &+= 1
    output.begin()
    try unsafe adapter.encode(picture(frame.buffer), order, into: output)
    guard let payload = output.take() else { return nil }

    if output.isKeyFrame { needsKeyFrame = false }
    rateControl.sent(bytes: payload.count, isKeyFrame: output.isKeyFrame)
    let (temporalLayer, layers) = layers.made(position, output)
    return EncodedFrame(
      payload: payload, isKeyFrame: output.isKeyFrame, rtpTimestamp: rtpTimestamp,
      timestamp: frame.timestamp, width: codedSize.width, height: codedSize.height,
      rotation: frame.rotation, temporalLayer: temporalLayer, layers: layers)
  }

  /// Starts over where the frame has another size. Some libraries could change a running encoder, most of them in one
  /// direction only; one way for all means one behaviour: a key frame, then prediction again.
  private func follow(_ buffer: PixelBuffer) throws(CodecError) {
    if isOpen, buffer.width == settings.width, buffer.height == settings.height { return }
    var wanted = settings
    wanted.width = buffer.width
    wanted.height = buffer.height
    try wanted.validate()
    let plan = try Adapter.plan(wanted)
    // Before the next is started: two of them would need twice the memory.
    if isOpen { adapter.close() }
    isOpen = false
    settings = wanted
    try open(plan)
  }

  private func open(_ plan: Adapter.Plan) throws(CodecError) {
    let rates = rateControl.start(settings, limit: plan.maximumBitsPerSecond)
    do {
      try adapter.open(plan, settings, rates)
    } catch {
      adapter.close()
      throw error
    }
    codedSize = (plan.width, plan.height)
    isOpen = true
    needsKeyFrame = true
  }

  private func picture(_ buffer: PixelBuffer) -> EncoderPicture {
    if buffer.format == .nv12, !takesInterleavedChroma {
      let (u, v, stride) = unsafe chroma.split(buffer.plane(1))
      return unsafe EncoderPicture(buffer, u: u, v: v, chromaStride: stride)
    }
    return unsafe EncoderPicture(buffer)
  }
}
