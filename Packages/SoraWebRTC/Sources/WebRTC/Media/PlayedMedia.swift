package import SoraMedia

/// What a pipeline has handed to a track's sinks last.
package struct PlayedMedia: Sendable, Hashable {
  package var rtpTimestamp: UInt32
  /// When its sinks got it.
  package var time: Instant
  /// What its buffer held it back, counted from the fastest packets; of audio.
  package var delay: Duration
}
