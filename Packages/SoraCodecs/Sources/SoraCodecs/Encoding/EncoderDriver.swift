package import SoraMedia

/// The encoder that all libraries share: it checks settings, follows the size and the colours of frames, keeps the rate, chooses key
/// frames, layers and the library's speed, and pools memory. The library behind its adapter compresses.
///
/// Steady state allocates nothing. Confined to one serial executor or thread, as `VideoEncoder` says.
package final class EncoderDriver<Adapter: EncoderAdapter>: SpeedControlledEncoder {
  package private(set) var settings: VideoEncoderSettings

  private let adapter: Adapter
  private let output = EncoderOutput()
  private var layers: EncoderLayers
  private var rateControl = EncoderRateControl(Adapter.traits)
  private var chroma = PlanarChroma()
  /// Nil where the library's speed stays as it is.
  private var speedControl: EncoderSpeedControl?
  private let takesInterleavedChroma = Adapter.traits.takesInterleavedChroma
  private let conversion = FrameConversion(tellsColorSpace: Adapter.traits.tellsColorSpace)
  private var codedSize = (width: 0, height: 0)
  private var isOpen = false
  /// Whether the library is to be started anew before the next frame, at another speed.
  private var isStale = false
  private var needsKeyFrame = true
  private var frameCount: Int64 = 0

  /// Starts an encoder. Throws `CodecError.invalidSetting` or `CodecError.library`.
  package init(_ settings: VideoEncoderSettings) throws(CodecError) {
    try settings.validate(modes: Adapter.scalabilityModes, has10Bits: Adapter.traits.has10Bits)
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

  package var clock: (@Sendable () -> Instant)?

  package var canBeFaster: Bool { speedControl?.canBeFaster ?? false }

  package var maySlowDown: Bool {
    get { speedControl?.maySlowDown ?? false }
    set { speedControl?.maySlowDown = newValue }
  }

  package func beFaster(at now: Instant) {
    if speedControl?.beFaster(at: now) == true { isStale = true }
  }

  package func setRates(targetBitsPerSecond: Int, framesPerSecond: Double) {
    _ = settings.takeRates(
      targetBitsPerSecond: targetBitsPerSecond, framesPerSecond: framesPerSecond)
  }

  package func encode(_ frame: RawVideoFrame, forceKeyFrame: Bool, rtpTimestamp: UInt32)
    throws(CodecError) -> EncodedFrame?
  {
    if forceKeyFrame { needsKeyFrame = true }
    guard settings.targetBitsPerSecond > 0 else { return nil }
    try follow(frame)
    let isOwing = rateControl.advance(to: frame.timestamp, settings)
    if let rates = rateControl.changes(settings) {
      try adapter.setRates(rates)
      rateControl.told(rates)
    }
    if isOwing, !needsKeyFrame { return nil }
    let buffer = conversion.picture(of: frame, bitDepth: settings.bitDepth)

    let position = layers.next(isKeyFrame: needsKeyFrame)
    let order = FrameOrder(
      number: frameCount, ticks: rateControl.ticks,
      duration: Int64(90_000 / settings.framesPerSecond), isKeyFrame: needsKeyFrame,
      quantizer: rateControl.quantizer(for: buffer, isKeyFrame: needsKeyFrame, settings),
      layers: position)
    frameCount &+= 1
    output.begin()
    try compress(buffer, order)
    guard let payload = output.take() else { return nil }

    if output.isKeyFrame { needsKeyFrame = false }
    rateControl.sent(bytes: payload.count, isKeyFrame: output.isKeyFrame)
    let (temporalLayer, layers) = layers.made(position, output)
    return EncodedFrame(
      payload: payload, isKeyFrame: output.isKeyFrame, rtpTimestamp: rtpTimestamp,
      timestamp: frame.timestamp, width: codedSize.width, height: codedSize.height,
      rotation: frame.rotation, temporalLayer: temporalLayer, layers: layers)
  }

  /// Has the library compress a frame, and starts it anew at another speed where the time that it took asks for that.
  private func compress(_ buffer: PixelBuffer, _ order: FrameOrder) throws(CodecError) {
    // A key frame, which takes longer, says nothing of the others.
    guard speedControl != nil, let clock, !order.isKeyFrame else {
      return try unsafe adapter.encode(picture(buffer), order, into: output)
    }
    let started = clock()
    try unsafe adapter.encode(picture(buffer), order, into: output)
    let ended = clock()
    let interval = Duration.seconds(1 / settings.framesPerSecond)
    if speedControl?.encoded(ended - started, interval: interval, at: ended) == true {
      isStale = true
    }
  }

  /// Starts over where the frame has another size, or other colours than the stream says. Some libraries could change a running
  /// encoder, most of them in one direction only; one way for all means one behaviour: a key frame, then prediction again.
  private func follow(_ frame: RawVideoFrame) throws(CodecError) {
    let isSameSize = frame.width == settings.width && frame.height == settings.height
    let isTold = !conversion.tellsColorSpace || settings.describeColors(of: frame)
    if isOpen, isSameSize, isTold, !isStale { return }
    var wanted = settings
    wanted.width = frame.width
    wanted.height = frame.height
    if !isTold { wanted.colorSpace = frame.statedColorSpace }
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
      try adapter.open(plan, settingsWithSpeed(), rates)
    } catch {
      adapter.close()
      throw error
    }
    codedSize = (plan.width, plan.height)
    isOpen = true
    isStale = false
    needsKeyFrame = true
  }

  /// The settings with the speed that is chosen for them at the moment, unless they say one.
  private func settingsWithSpeed() -> VideoEncoderSettings {
    guard settings.speed == nil, let speeds = Adapter.speeds(settings) else { return settings }
    // After a change of speed alone the control goes on as it is.
    if !isStale || speedControl?.speeds != speeds {
      speedControl = speedControl?.following(speeds) ?? EncoderSpeedControl(speeds)
    }
    var wanted = settings
    wanted.speed = speedControl?.speed
    return wanted
  }

  private func picture(_ buffer: PixelBuffer) -> EncoderPicture {
    if buffer.format == .nv12, !takesInterleavedChroma {
      let (u, v, stride) = unsafe chroma.split(buffer.plane(1))
      return unsafe EncoderPicture(buffer, u: u, v: v, chromaStride: stride)
    }
    return unsafe EncoderPicture(buffer)
  }
}
