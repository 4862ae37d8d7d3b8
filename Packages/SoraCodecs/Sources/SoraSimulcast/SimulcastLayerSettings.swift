public import SoraCodecs
public import SoraMedia

/// One of the streams that are made of a source: W3C's `RTCRtpEncodingParameters` in the words of encoders.
public struct SimulcastLayerSettings: Sendable, Hashable {
  /// The stream's name in descriptions (RFC 8851); nil where there is one stream only.
  public var rid: String?
  /// False costs nothing: neither scaling nor an encoder.
  public var isActive: Bool
  /// A width and a height that limit the layer's frames, whichever of the two is the longer side of the source.
  public struct Resolution: Sendable, Hashable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  /// 1 or more: the frame's width and height are divided by it.
  public var scaleResolutionDownBy: Double
  /// The largest size of the layer's frames (webrtc-extensions §6.2); the aspect ratio stays, and smaller sources are left as they are.
  /// Where it is set, `scaleResolutionDownBy` doesn't count.
  public var scaleResolutionDownTo: Resolution?
  /// Bits a second; nil leaves it to the size (`SimulcastBitrates`).
  public var maximumBitsPerSecond: Int?
  /// Bits a second below which the layer is switched off, where a lower one is there; nil leaves it to the size.
  public var minimumBitsPerSecond: Int?
  /// Frames a second; nil for as many as come.
  public var maximumFramesPerSecond: Double?
  /// Layers within the stream.
  public var scalabilityMode: ScalabilityMode

  public init(
    rid: String? = nil, isActive: Bool = true, scaleResolutionDownBy: Double = 1,
    scaleResolutionDownTo: Resolution? = nil, maximumBitsPerSecond: Int? = nil,
    minimumBitsPerSecond: Int? = nil,
    maximumFramesPerSecond: Double? = nil, scalabilityMode: ScalabilityMode = .l1t1
  ) {
    self.rid = rid
    self.isActive = isActive
    self.scaleResolutionDownBy = scaleResolutionDownBy
    self.scaleResolutionDownTo = scaleResolutionDownTo
    self.maximumBitsPerSecond = maximumBitsPerSecond
    self.minimumBitsPerSecond = minimumBitsPerSecond
    self.maximumFramesPerSecond = maximumFramesPerSecond
    self.scalabilityMode = scalabilityMode
  }

  /// The size of the layer's pictures when the source, already scaled to `scale` of its width and height, is
  /// `width` by `height`: even, so that chroma fits, except where the source isn't scaled at all.
  public func size(ofSource width: Int, _ height: Int, scale: Double = 1) -> (
    width: Int, height: Int
  ) {
    let factor = min(1, max(0, scale.isFinite ? scale : 1)) / divisor(ofSource: width, height)
    if factor >= 1 { return (width, height) }
    func side(_ whole: Int) -> Int {
      min(whole, max(2, Int((Double(whole) * factor / 2).rounded()) * 2))
    }
    return (side(width), side(height))
  }

  private func divisor(ofSource width: Int, _ height: Int) -> Double {
    guard let limit = scaleResolutionDownTo else {
      return scaleResolutionDownBy.isFinite ? max(1, scaleResolutionDownBy) : 1
    }
    func ratio(_ side: Int, _ limit: Int) -> Double { Double(side) / Double(max(1, limit)) }
    return max(
      1, ratio(max(width, height), max(limit.width, limit.height)),
      ratio(min(width, height), min(limit.width, limit.height)))
  }
}

/// A compressed picture of one of the layers.
public struct SimulcastFrame: Sendable {
  /// The place of the layer in `SimulcastEncoder.layers`.
  public var layer: Int
  public var rid: String?
  public var frame: EncodedFrame
  /// How long the encoder took, by the clock that it was given.
  public var encodeTime: Duration

  public init(layer: Int, rid: String?, frame: EncodedFrame, encodeTime: Duration) {
    self.layer = layer
    self.rid = rid
    self.frame = frame
    self.encodeTime = encodeTime
  }
}
