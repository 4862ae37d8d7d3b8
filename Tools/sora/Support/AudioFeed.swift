package import SoraMedia

/// Sound to publish.
package enum PublishedSound: Sendable {
  case raw(AudioFrame)
  /// An Opus packet of a file.
  case packet(EncodedFrame)
}

/// Where published sound comes from.
package protocol AudioFeed: AnyObject, Sendable {
  /// Why the source ended, where it did.
  var failure: String? { get }
  /// What is wrong with the source, though it can be heard; one line. nil where all is well.
  var warning: String? { get }
  /// What the device does; nil where there is none.
  var device: Report.AudioDevice? { get }
  /// Whether the source is over, and all is well.
  var isOver: Bool { get }
  /// Starts giving sound to `publish`, on the source's thread.
  func start(at start: Instant, publish: @escaping @Sendable (PublishedSound) -> Void)
  /// Ends the source and waits for its last block.
  func stop()
}

extension AudioFeed {
  package var device: Report.AudioDevice? { nil }
  package var isOver: Bool { false }
}

/// A source of samples.
package protocol RawAudioFeed: AudioFeed {
  /// Starts giving sound to `deliver`, on the source's thread.
  func start(at start: Instant, deliver: @escaping @Sendable (AudioFrame) -> Void)
}

extension RawAudioFeed {
  package func start(at start: Instant, publish: @escaping @Sendable (PublishedSound) -> Void) {
    self.start(at: start, deliver: { publish(.raw($0)) })
  }
}

extension AudioChoice {
  /// The source that is named; nil where no audio is wanted, or a film's, which is `FilmInput`.
  ///
  /// - Parameters:
  ///   - framesPerSecond: of the video that the tone's beeps belong to.
  ///   - processing: what is done with a microphone's sound.
  package func makeFeed(
    framesPerSecond: Double, processing: MicrophoneProcessing
  ) throws(UsageError) -> (any AudioFeed)? {
    guard case .microphone(let name) = self else {
      return try AudioInput(self, framesPerSecond: framesPerSecond)
    }
    return try MicrophoneInput(name: name, processing: processing)
  }
}
