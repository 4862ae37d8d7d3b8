package import SoraMedia

/// What a source of published pictures did so far.
package struct VideoFeedCounters: Sendable, Equatable {
  package var frames = 0
  /// Frames that were lost or left out because the machine was late.
  package var skipped = 0
  /// Why the source ended, where it did.
  package var failure: String?
}

/// A picture to publish.
package enum PublishedPicture: Sendable {
  case raw(RawVideoFrame)
  /// Encoded already, by a camera or in a file.
  case encoded(EncodedFrame, VideoCodecKind)
}

/// Where published pictures come from.
package protocol VideoFeed: AnyObject, Sendable {
  var resolution: Resolution { get }
  var framesPerSecond: Double { get }
  var counters: VideoFeedCounters { get }
  /// The codec that pictures are encoded with already; nil for raw ones.
  var codec: VideoCodecKind? { get }
  /// Whether the source is over, and all is well.
  var isOver: Bool { get }
  /// Starts giving frames to `publish`, on the source's thread.
  func start(at start: Instant, publish: @escaping @Sendable (PublishedPicture) -> Void)
  /// What those who receive the pictures want: a key frame. From any thread.
  func requestKeyFrame()
  /// Whether encoded pictures can be told to take fewer bits.
  var followsBitrate: Bool { get }
  /// How many bits per second the network takes. From any thread.
  func setTargetBitrate(_ bitsPerSecond: Int)
  /// Ends the source and waits for its last frame.
  func stop()
}

extension VideoFeed {
  package var codec: VideoCodecKind? { nil }
  package var isOver: Bool { false }
  package func requestKeyFrame() {}
  package var followsBitrate: Bool { false }
  package func setTargetBitrate(_ bitsPerSecond: Int) {}
}

/// A source of raw pictures.
package protocol RawVideoFeed: VideoFeed {
  /// Starts giving frames to `deliver`, on the source's thread.
  func start(at start: Instant, deliver: @escaping @Sendable (RawVideoFrame) -> Void)
}

extension RawVideoFeed {
  package func start(at start: Instant, publish: @escaping @Sendable (PublishedPicture) -> Void) {
    self.start(at: start, deliver: { publish(.raw($0)) })
  }
}

extension VideoChoice {
  /// The source that is named; nil where no video is wanted, or a film's, which is `FilmInput`.
  ///
  /// - Parameters:
  ///   - framesPerSecond: nil for a file's own rate, 30 for the test pattern, and for a camera 30 or what it has.
  ///   - codec: what a camera that encodes may send without encoding it here; nil for pictures.
  package func makeFeed(
    resolution: Resolution, framesPerSecond: Double?, codec: VideoCodecKind? = nil,
    bitDepth: Int = 8
  ) throws(UsageError) -> (any VideoFeed)? {
    switch self {
    case .camera(let path):
      return try CameraInput(
        path: path, resolution: resolution, framesPerSecond: framesPerSecond, codec: codec)
    case .screen, .window: return try ScreenInput(self, framesPerSecond: framesPerSecond)
    case .testPattern, .file, .film, .none:
      return try VideoInput(
        self, resolution: resolution, framesPerSecond: framesPerSecond, bitDepth: bitDepth)
    }
  }
}
