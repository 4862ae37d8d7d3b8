/// Notices that what is offered doesn't leave: a link became narrow all at once, and the window of unanswered bytes keeps the queue so short
/// and so even that its delay says nothing any more. What arrives is all that the link takes then. Plain memory, times in nanoseconds.
package struct BacklogWatch {
  private static let patience: Int64 = 400_000_000
  /// After a longer silence there is something else to say of the path.
  private static let silence: Int64 = 250_000_000
  /// What arrives is less than this share of what is believed to, or the backlog is a key frame's.
  private static let share = 0.8
  /// What is left at least, for a look lasts a few packets only.
  private static let least = 0.6

  private var since: Int64?
  private var lastFeedback: Int64 = .min / 2

  package init() {}

  /// One feedback message.
  ///
  /// - Parameters:
  ///   - isBacklogged: whether what is new waits for longer than it should.
  ///   - arriving: bits per second.
  ///   - estimate: bits per second that are believed to arrive.
  /// - Returns: the factor by which the estimate is too high, as far as it goes down at once; nil where it isn't.
  package mutating func note(
    isBacklogged: Bool, arriving: Double?, estimate: Double, at now: Int64
  ) -> Double? {
    let isSilent = now &- lastFeedback > Self.silence
    lastFeedback = now
    guard isBacklogged, !isSilent, let arriving, arriving < Self.share * estimate else {
      since = nil
      return nil
    }
    guard let start = since else {
      since = now
      return nil
    }
    guard now &- start >= Self.patience else { return nil }
    since = now
    return max(Self.least, arriving / estimate)
  }
}
