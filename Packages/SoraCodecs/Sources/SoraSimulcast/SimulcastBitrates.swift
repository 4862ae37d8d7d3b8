public import SoraCodecs

/// Bits a second that a layer of simulcast needs and can use, by its size.
public struct SimulcastBitrates: Sendable, Hashable {
  /// Below this it isn't worth showing.
  public var minimum: Int
  /// Beyond this the next layer should have them first.
  public var target: Int
  /// More than this shows no difference to most eyes.
  public var maximum: Int

  public init(minimum: Int, target: Int, maximum: Int) {
    self.minimum = minimum
    self.target = target
    self.maximum = maximum
  }

  /// The figures of libwebrtc's simulcast for VP8 and H.264 (`video/config/simulcast.cc`), which the field's servers are
  /// tuned to. Codecs that compress better get the part of them that gives the same quality.
  public init(_ kind: VideoCodecKind, width: Int, height: Int) {
    let pixels = width * height
    let kilobits: (Int, Int, Int) =
      switch pixels {
      case ..<(480 * 270): (30, 150, 200)
      case ..<(640 * 360): (150, 350, 450)
      case ..<(960 * 540): (150, 500, 700)
      case ..<(1280 * 720): (350, 1_200, 1_200)
      case ..<(1920 * 1080): (600, 2_500, 2_500)
      default: (800, 4_000, 5_000)
      }
    let percent = kind.bitratePercent
    minimum = kilobits.0 * 10 * percent
    target = kilobits.1 * 10 * percent
    maximum = kilobits.2 * 10 * percent
  }

  /// The figures for a layer's size within what its settings say.
  public init(_ kind: VideoCodecKind, _ layer: SimulcastLayerSettings, width: Int, height: Int) {
    self.init(kind, width: width, height: height)
    if let wanted = layer.maximumBitsPerSecond {
      maximum = max(0, wanted)
      target = min(target, maximum)
    }
    if let wanted = layer.minimumBitsPerSecond { minimum = max(0, wanted) }
    minimum = min(minimum, maximum)
    target = max(target, minimum)
  }
}

extension VideoCodecKind {
  /// Bits for the quality that VP8 and H.264 give with a hundred, about, at the speeds of calls.
  public var bitratePercent: Int {
    switch self {
    case .vp8, .h264: 100
    case .vp9, .h265: 70
    case .av1: 65
    }
  }
}
