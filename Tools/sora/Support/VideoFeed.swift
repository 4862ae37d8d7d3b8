package import SoraMedia

/// What a source of published pictures did so far.
package struct VideoFeedCounters: Sendable, Equatable {
  package var frames = 0
  /// Frames that were lost or left out because the machine was late.
  package var skipped = 0
  /// Why the source ended, where it did.
  package var failure: String?
}

/// Where published pictures come from.
package protocol VideoFeed: AnyObject, Sendable {
  var resolution: Resolution { get }
  var framesPerSecond: Double { get }
  var counters: VideoFeedCounters { get }
  /// Starts giving frames to `deliver`, on the source's thread.
  func start(at start: Instant, deliver: @escaping @Sendable (RawVideoFrame) -> Void)
  /// Ends the source and waits for its last frame.
  func stop()
}

extension VideoChoice {
  /// The source that is named; nil where no video is wanted.
  ///
  /// - Parameter framesPerSecond: nil for a file's own rate, 30 for the test pattern, and for a camera 30 or what it has.
  package func makeFeed(
    resolution: Resolution, framesPerSecond: Double?
  ) throws(UsageError) -> (any VideoFeed)? {
    guard case .camera(let path) = self else {
      return try VideoInput(self, resolution: resolution, framesPerSecond: framesPerSecond)
    }
    return try CameraInput(path: path, resolution: resolution, framesPerSecond: framesPerSecond)
  }
}
