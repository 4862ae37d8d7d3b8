package import SoraMedia

/// Sound to publish.
package enum PublishedSound: Sendable {
  case raw(AudioFrame)
  /// An Opus packet of a file.
  case packet(EncodedFrame)
}

/// Where published sound comes from, unless a microphone hears it, which is the SDK's.
package protocol AudioFeed: AnyObject, Sendable {
  /// Why the source ended, where it did.
  var failure: String? { get }
  /// What is wrong with the source, though it can be heard; one line. nil where all is well.
  var warning: String? { get }
  /// Whether the source is over, and all is well.
  var isOver: Bool { get }
  /// Whether it gives packets, and no samples.
  var isEncoded: Bool { get }
  /// Starts giving sound to `publish`, on the source's thread.
  func start(at start: Instant, publish: @escaping @Sendable (PublishedSound) -> Void)
  /// Ends the source and waits for its last block.
  func stop()
}

extension AudioFeed {
  package var isOver: Bool { false }
  package var isEncoded: Bool { false }
}
