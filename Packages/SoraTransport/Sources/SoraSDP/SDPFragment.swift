/// What trickle ICE sends of a description (`application/trickle-ice-sdpfrag`, RFC 8840 §9): credentials of ICE and candidates, and of media
/// sections no more than their names.
public struct SDPFragment: Sendable, Hashable, SDPAttributeContainer {
  /// The media type of its text.
  public static let mediaType = "application/trickle-ice-sdpfrag"

  /// The lines before the first media section.
  public var lines: [SDPLine]
  public var media: [MediaDescription]

  /// A fragment with the given lines.
  ///
  /// - Parameters:
  ///   - lines: those before the first media section.
  ///   - media: the sections.
  public init(lines: [SDPLine] = [], media: [MediaDescription] = []) {
    self.lines = lines
    self.media = media
  }

  /// Reads a fragment. Lines may end in CRLF or LF. The limits are those of `SessionDescription`.
  ///
  /// - Parameter text: the lines, of which a fragment has no `v=`.
  /// - Throws: what is wrong, with the line.
  public init(parsing text: String) throws(SDPError) {
    do throws(SDPError) {
      // A description begins so; the lines are of the same form.
      let whole = try SessionDescription(parsing: Self.beginning + text)
      lines = Array(whole.lines.dropFirst())
      media = whole.media
    } catch {
      var error = error
      error.line = max(0, error.line - 1)
      throw error
    }
    guard !lines.isEmpty || !media.isEmpty else {
      throw SDPError(.empty, advice: "Send a=ice-ufrag, a=ice-pwd and candidates.")
    }
  }

  private static let beginning = "v=0\r\n"

  /// The fragment as text, each line ended by CRLF.
  public var text: String {
    SessionDescription(lines: lines, media: media).text
  }

  /// The user fragment, of the whole or of the first section that has one.
  public var ufrag: String? { iceUfrag ?? media.lazy.compactMap(\.iceUfrag).first }
  /// The password that goes with it.
  public var password: String? { icePassword ?? media.lazy.compactMap(\.icePassword).first }
  /// Candidates of all sections, each with its leading `candidate:`.
  public var allCandidates: [String] { candidates + media.flatMap(\.candidates) }
  /// Whether no further candidates follow, of the whole or of a section.
  public var endsCandidates: Bool { endOfCandidates || media.contains { $0.endOfCandidates } }
}
