/// Notices that smaller pictures are sent than were asked for, and says why, once.
package struct SizeWatch: Sendable {
  /// A stream starts small, and grows with what the link is found to bear: so long that says nothing.
  package static let patience = 3

  private var seconds = 0
  private var hasTold = false

  package init() {}

  /// Looks at what is sent; once a second.
  ///
  /// - Returns: a line for people, where there is something to be told.
  package mutating func warning(
    sent: Resolution, source: Resolution, reason: String?
  ) -> String? {
    guard !hasTold, sent.width > 0, sent.width * sent.height < source.width * source.height else {
      seconds = 0
      return nil
    }
    seconds += 1
    guard seconds >= Self.patience else { return nil }
    hasTold = true
    let cause =
      switch reason {
      case "cpu": "this machine can't encode more in time"
      case "bandwidth": "the link, as far as it is known, bears no more"
      default: "the encoder takes no more"
      }
    return "sending \(sent) in place of \(source): \(cause); a smaller --resolution is steadier"
  }
}
