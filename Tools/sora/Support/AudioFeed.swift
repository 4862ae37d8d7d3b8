package import SoraMedia

/// Where published sound comes from.
package protocol AudioFeed: AnyObject, Sendable {
  /// Why the source ended, where it did.
  var failure: String? { get }
  /// What is wrong with the source, though it can be heard; one line. nil where all is well.
  var warning: String? { get }
  /// What the device does; nil where there is none.
  var device: Report.AudioDevice? { get }
  /// Starts giving sound to `deliver`, on the source's thread.
  func start(at start: Instant, deliver: @escaping @Sendable (AudioFrame) -> Void)
  /// Ends the source and waits for its last block.
  func stop()
}

extension AudioFeed {
  package var device: Report.AudioDevice? { nil }
}

extension AudioChoice {
  /// The source that is named; nil where no audio is wanted.
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
