/// What a client that brings its own offer wants to do.
public enum SFUOfferPurpose: String, Sendable, Hashable, CaseIterable {
  /// WHIP.
  case publish
  /// WHEP.
  case play
}
