import Dispatch
public import SoraCodecs
public import SoraMedia
import SoraScaling

/// Encodes one source as several streams of different sizes: one downscale chain, one encoder a layer.
///
/// Each layer's picture is scaled from the next larger one, and nothing is scaled or encoded for a layer that is off.
/// Layers are encoded at the same time where there are cores for it, and carry the same RTP timestamp. With one layer it
/// is a plain encoder that scales. Confined to one serial executor or thread, as `VideoEncoder` is.
public final class SimulcastEncoder {
  /// Makes a layer's encoder.
  public typealias MakeEncoder = (VideoEncoderSettings) throws(CodecError) -> any VideoEncoder

  /// A layer at the moment.
  public struct LayerState: Sendable, Hashable {
    /// Bits a second; 0 while it is off.
    public var bitsPerSecond = 0
    /// Of its pictures; 0 while it is off.
    public var width = 0
    public var height = 0
    /// `VideoEncoder.implementationName`; nil while there is no encoder.
    public var implementationName: String?

    public init() {}
  }

  public let kind: VideoCodecKind
  /// Bits a second to share out; 0 pauses all.
  public private(set) var targetBitsPerSecond: Int
  public private(set) var framesPerSecond: Double
  /// Whether an active layer is off for want of bits.
  public var isBandwidthLimited: Bool { allocator.isLimited }

  /// Whether a layer's library has a faster speed than the present one; those that don't follow the time have none.
  public var canBeFaster: Bool { layers.contains { $0.speed?.canBeFaster ?? false } }
  /// Whether libraries may choose slower speeds where there is time. Not while frames are reduced for want of time.
  public var maySlowDown = true

  private let base: VideoEncoderSettings
  private let makeEncoder: MakeEncoder
  private let now: @Sendable () -> Instant
  private var layers: [Layer]
  /// Places in `layers`, largest picture first.
  private var order: [Int] = []
  private var working: [Layer] = []
  private var allocator = SimulcastAllocator()
  private var sourceSize = (width: 0, height: 0)
  private var scale = 1.0
  private var needsAllocation = true

  /// - Parameters:
  ///   - kind: the codec of all layers.
  ///   - layers: lowest first; at least one.
  ///   - base: what all have in common. Its size, rates and scalability mode are each layer's own.
  ///   - now: the clock that encoding is timed with; for several layers it is read on several threads.
  ///   - makeEncoder: makes a layer's encoder, when its first frame is there.
  public init(
    _ kind: VideoCodecKind, layers: [SimulcastLayerSettings], base: VideoEncoderSettings,
    now: @escaping @Sendable () -> Instant, makeEncoder: @escaping MakeEncoder
  ) {
    precondition(!layers.isEmpty, "a simulcast has one layer at least")
    self.kind = kind
    self.base = base
    self.now = now
    self.makeEncoder = makeEncoder
    self.layers = layers.map { Layer($0) }
    targetBitsPerSecond = base.targetBitsPerSecond
    framesPerSecond = base.framesPerSecond
  }

  /// The layers' settings. A change takes effect with the next frame; a layer whose scalability mode changes starts
  /// over with a key frame. The count stays.
  public var settings: [SimulcastLayerSettings] {
    get { layers.map(\.settings) }
    set {
      precondition(newValue.count == layers.count, "the count of layers stays")
      for (layer, settings) in zip(layers, newValue) where layer.settings != settings {
        if layer.settings.scalabilityMode != settings.scalabilityMode { layer.encoder = nil }
        layer.settings = settings
        needsAllocation = true
      }
    }
  }

  public var states: [LayerState] { layers.indices.map(state) }

  /// How the layer at this place of `settings` is.
  public func state(_ index: Int) -> LayerState {
    let layer = layers[index]
    var state = LayerState()
    state.bitsPerSecond = layer.bitsPerSecond
    guard let encoder = layer.encoder else { return state }
    state.width = layer.size.width
    state.height = layer.size.height
    state.implementationName = encoder.implementationName
    return state
  }

  /// Bits and frames a second from the next frame on.
  public func setRates(targetBitsPerSecond: Int, framesPerSecond: Double) {
    if max(0, targetBitsPerSecond) != self.targetBitsPerSecond {
      self.targetBitsPerSecond = max(0, targetBitsPerSecond)
      needsAllocation = true
    }
    if framesPerSecond.isFinite, framesPerSecond > 0 { self.framesPerSecond = framesPerSecond }
  }

  /// Has the libraries that can go on at faster speeds, from the next frame on and with key frames.
  public func beFaster() {
    for layer in layers { layer.speed?.beFaster(at: now()) }
  }

  /// Compresses a frame for every layer that is on, and hands each result to `output` on this thread, lowest first.
  ///
  /// - Parameters:
  ///   - frame: the source picture.
  ///   - scale: above 0 and up to 1: by how much all layers shrink, beyond their own `scaleResolutionDownBy`.
  ///   - forceKeyFrame: all layers that are on make key frames of this very picture.
  ///   - rtpTimestamp: passed through, in units of 1/90,000 s.
  ///   - output: takes each result.
  /// - Throws: the first error of an encoder, after the other layers' frames have been handed over. The layer gets a new
  ///   encoder with the next frame, and starts with a key frame.
  public func encode(
    _ frame: RawVideoFrame, scale: Double = 1, forceKeyFrame: Bool, rtpTimestamp: UInt32,
    output: (SimulcastFrame) -> Void
  ) throws(CodecError) {
    allocate(for: frame.buffer, scale: scale)
    working.removeAll(keepingCapacity: true)
    defer { working.removeAll(keepingCapacity: true) }
    try scalePictures(frame, forceKeyFrame: forceKeyFrame)
    if working.count == 1 || base.cores == 1 {
      for layer in working { run(layer, frame, rtpTimestamp) }
    } else if !working.isEmpty {
      runInParallel(frame, rtpTimestamp)
    }
    var failure: CodecError?
    for (index, layer) in layers.enumerated() {
      // Neither the source's memory nor the pool's is held until the next frame.
      layer.picture = nil
      if let encoded = layer.result {
        layer.result = nil
        output(
          SimulcastFrame(
            layer: index, rid: layer.settings.rid, frame: encoded, encodeTime: layer.encodeTime))
      }
      if let error = layer.failure {
        layer.failure = nil
        layer.encoder = nil
        if failure == nil { failure = error }
      }
    }
    if let failure { throw failure }
  }

  // MARK: Which layers, and how large

  private func allocate(for picture: PixelBuffer, scale: Double) {
    if sourceSize != (picture.width, picture.height) || scale != self.scale {
      sourceSize = (picture.width, picture.height)
      self.scale = scale
      needsAllocation = true
    }
    guard needsAllocation else { return }
    needsAllocation = false
    for layer in layers {
      layer.size = layer.settings.size(ofSource: picture.width, picture.height, scale: scale)
    }
    order = layers.indices.sorted {
      let (a, b) = (layers[$0].size, layers[$1].size)
      return a.width * a.height != b.width * b.height
        ? a.width * a.height > b.width * b.height : $0 > $1
    }
    let needs = order.reversed().map { index -> SimulcastBitrates? in
      let layer = layers[index]
      guard layer.settings.isActive else { return nil }
      return SimulcastBitrates(
        kind, layer.settings, width: layer.size.width, height: layer.size.height)
    }
    let shares =
      layers.count == 1
      ? [layers[0].settings.isActive ? wholeShare : 0]
      : allocator.allocate(targetBitsPerSecond, to: needs)
    for (index, share) in zip(order.reversed(), shares) {
      layers[index].bitsPerSecond = share
      if share == 0 { layers[index].rest() }
    }
  }

  /// One layer gets everything up to its own limit: whoever sets the target knows what its size can use.
  private var wholeShare: Int {
    min(targetBitsPerSecond, layers[0].settings.maximumBitsPerSecond ?? targetBitsPerSecond)
  }

  /// Makes the pictures of the layers that take this frame, each from the smallest that is there and no smaller.
  private func scalePictures(_ frame: RawVideoFrame, forceKeyFrame: Bool) throws(CodecError) {
    var larger = frame.buffer
    for index in order {
      let layer = layers[index]
      guard layer.bitsPerSecond > 0 else { continue }
      if forceKeyFrame { layer.needsKeyFrame = true }
      guard
        layer.spacer.keeps(
          frame.timestamp, framesPerSecond: layer.settings.maximumFramesPerSecond,
          isForced: forceKeyFrame)
      else { continue }
      let (width, height) = layer.size
      let source = larger.width >= width && larger.height >= height ? larger : frame.buffer
      larger = try layer.scaler.scale(source, width: width, height: height)
      layer.picture = larger
      working.append(layer)
    }
  }

  // MARK: Encoding

  private func run(_ layer: Layer, _ frame: RawVideoFrame, _ rtpTimestamp: UInt32) {
    guard let picture = layer.picture else { return }
    let started = now()
    do throws(CodecError) {
      let encoder: any VideoEncoder
      if let running = layer.encoder {
        encoder = running
      } else {
        encoder = try makeEncoder(settings(of: layer, picture, frame.statedColorSpace))
        layer.encoder = encoder
        layer.speed?.clock = now
        layer.needsKeyFrame = true
        layer.appliedBits = layer.bitsPerSecond
        layer.appliedRate = rate(of: layer)
      }
      layer.speed?.maySlowDown = maySlowDown
      let rate = rate(of: layer)
      if layer.bitsPerSecond != layer.appliedBits || abs(rate - layer.appliedRate) > 1 {
        encoder.setRates(targetBitsPerSecond: layer.bitsPerSecond, framesPerSecond: rate)
        layer.appliedBits = layer.bitsPerSecond
        layer.appliedRate = rate
      }
      var scaled = frame
      scaled.buffer = picture
      let encoded = try encoder.encode(
        scaled, forceKeyFrame: layer.needsKeyFrame, rtpTimestamp: rtpTimestamp)
      if encoded?.isKeyFrame == true { layer.needsKeyFrame = false }
      layer.result = encoded
    } catch {
      layer.failure = error
    }
    layer.encodeTime = now() - started
  }

  /// Runs the layers on the threads of the system's pool, and this one; the largest first, as it takes longest.
  private func runInParallel(_ frame: RawVideoFrame, _ rtpTimestamp: UInt32) {
    let job = Job(encoder: self, layers: working, frame: frame, rtpTimestamp: rtpTimestamp)
    DispatchQueue.concurrentPerform(iterations: job.layers.count) { index in
      job.encoder.run(job.layers[index], job.frame, job.rtpTimestamp)
    }
  }

  private struct Job: @unchecked Sendable {
    // @unchecked: `concurrentPerform` returns when all are done, and until then each layer is touched by the one
    // iteration of its index; of the encoder only what doesn't change meanwhile is read.
    let encoder: SimulcastEncoder
    let layers: [Layer]
    let frame: RawVideoFrame
    let rtpTimestamp: UInt32
  }

  private func rate(of layer: Layer) -> Double {
    min(framesPerSecond, layer.settings.maximumFramesPerSecond ?? framesPerSecond)
  }

  private func settings(
    of layer: Layer, _ picture: PixelBuffer, _ colorSpace: VideoColorSpace?
  ) -> VideoEncoderSettings {
    var settings = base
    settings.colorSpace = colorSpace
    settings.width = picture.width
    settings.height = picture.height
    settings.targetBitsPerSecond = layer.bitsPerSecond
    settings.maximumBitsPerSecond = layer.settings.maximumBitsPerSecond ?? 0
    settings.framesPerSecond = min(240, max(1, rate(of: layer)))
    settings.scalabilityMode = layer.settings.scalabilityMode
    // The smaller layers take a core each; the largest has the others.
    if layers.count > 1 {
      settings.cores =
        layer === layers[order[0]] ? max(1, base.cores - (layers.count - 1)) : 1
    }
    return settings
  }
}

extension SimulcastEncoder {
  /// A layer and what it needs from frame to frame.
  final class Layer {
    var settings: SimulcastLayerSettings
    var bitsPerSecond = 0
    var size = (width: 0, height: 0)
    let scaler = PictureScaler(limit: 4)
    var spacer = FrameSpacer()
    var picture: PixelBuffer?
    var encoder: (any VideoEncoder)? {
      didSet { speed = encoder as? any SpeedControlledEncoder }
    }
    /// The encoder, where its speed follows the time that frames take.
    private(set) var speed: (any SpeedControlledEncoder)?
    var needsKeyFrame = true
    var appliedBits = 0
    var appliedRate = 0.0
    var result: EncodedFrame?
    var failure: CodecError?
    var encodeTime = Duration.zero

    init(_ settings: SimulcastLayerSettings) { self.settings = settings }

    /// Gives back what an idle layer doesn't need. It starts over with a key frame.
    func rest() {
      encoder = nil
      needsKeyFrame = true
    }
  }
}
