/// One picture size of one pixel format that a camera has, with its frame rates.
public struct CameraFormat: Sendable, Hashable, CustomStringConvertible {
  public var pixelFormat: CameraPixelFormat
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int
  /// Frames per second; a single rate is a range of itself. Empty where the camera doesn't tell.
  public var frameRateRanges: [ClosedRange<Double>]

  public init(
    pixelFormat: CameraPixelFormat, width: Int, height: Int,
    frameRateRanges: [ClosedRange<Double>] = []
  ) {
    self.pixelFormat = pixelFormat
    self.width = width
    self.height = height
    self.frameRateRanges = frameRateRanges
  }

  /// Whether the camera says that it gives this many frames per second; 29.97 counts as 30.
  public func contains(_ framesPerSecond: Double) -> Bool {
    frameRateRanges.contains {
      framesPerSecond >= $0.lowerBound - 0.05 && framesPerSecond <= $0.upperBound + 0.05
    }
  }

  /// The highest rate; nil where the camera doesn't tell.
  public var maximumFrameRate: Double? { frameRateRanges.map(\.upperBound).max() }

  /// A rate where the camera has it, or else its highest. A camera that doesn't tell its rates is asked for any.
  public func frameRate(upTo wanted: Double) -> Double {
    guard let highest = maximumFrameRate, !contains(wanted) else { return wanted }
    return highest
  }

  public var description: String { "\(pixelFormat) \(width)x\(height)" }
}

extension [CameraFormat] {
  /// The format that is nearest to a wish, by the rule of the iOS SDK: those with the smallest sum of the differences of width and
  /// height; of these the first that has the frame rate, or else the first.
  ///
  /// What costs least to convert comes first where a camera has a size in several formats; formats that can't be taken don't count,
  /// and those of a video codec only where they are asked for by `codec`.
  public func nearest(
    width: Int, height: Int, framesPerSecond: Double? = nil, codec: CameraPixelFormat? = nil
  ) -> CameraFormat? {
    let usable = filter { format in
      let offered = format.pixelFormat
      return codec.map { $0 == offered } ?? (offered.isSupported && !offered.isVideoCodec)
    }
    func distance(_ format: CameraFormat) -> Int {
      abs(format.width - width) + abs(format.height - height)
    }
    guard let least = usable.map(distance).min() else { return nil }
    let nearest = usable.enumerated().filter { distance($0.element) == least }
      .sorted {
        ($0.element.pixelFormat.cost, $0.offset) < ($1.element.pixelFormat.cost, $1.offset)
      }
      .map(\.element)
    guard let framesPerSecond else { return nearest.first }
    return nearest.first { $0.contains(framesPerSecond) } ?? nearest.first
  }
}
