import SoraMedia

/// One media section of a connection's descriptions. Its index never changes.
struct SFUSection {
  enum Content {
    case upload(PublishedTrack)
    case forward(SubscribedTrack)
    /// Keeps the transport alive on connections that upload nothing: with every section rejected there would be none.
    case anchor
    case none
  }

  var kind: MediaKind
  var mid: String
  var content: Content
  /// Written with port 0.
  var isStopped = false
  /// Port 0 is agreed: the next track of this kind may take it (RFC 9429 §5.2.2).
  var isRecyclable = false
  /// The codec that a stopped section had, for its format list.
  var codec: SFUCodec
  var types: SFUPayloadTypes.Assignment
}
