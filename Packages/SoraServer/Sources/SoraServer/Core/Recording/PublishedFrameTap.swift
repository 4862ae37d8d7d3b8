import SoraMedia

/// Who takes what is published before it is decoded, and of which channels.
struct PublishedFrameTap {
  typealias Handler = (SFUPublisher, EncodedTrackFrame) -> Void

  /// nil while nobody takes frames.
  var handler: Handler?
  /// nil for all.
  var channels: Set<String>?

  /// What takes a channel's frames; nil where nothing does.
  func handler(of channelID: String) -> Handler? {
    guard let handler, channels?.contains(channelID) ?? true else { return nil }
    return handler
  }
}
