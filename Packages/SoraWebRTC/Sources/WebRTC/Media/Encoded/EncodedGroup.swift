import SoraMedia

/// The frames of a source since its last key frame, kept while it may turn out that they come in another order than they are shown in:
/// who decodes them then has to begin with the key frame, and a file gives none when it is asked.
struct EncodedGroup {
  /// An encoder that has B frames uses them sooner than that.
  private static let longest = 30

  private var frames: [EncodedFrame] = []

  /// - Parameter mayBeReordered: what the stream says of itself at its key frames.
  mutating func add(_ frame: EncodedFrame, mayBeReordered: Bool) {
    if frame.isKeyFrame {
      frames.removeAll(keepingCapacity: true)
      guard mayBeReordered else { return }
    } else if frames.isEmpty || frames.count == Self.longest {
      return frames.removeAll(keepingCapacity: true)
    }
    frames.append(frame)
  }

  /// The frames, first the key frame; none where that isn't kept.
  mutating func take() -> [EncodedFrame] {
    defer { frames = [] }
    return frames
  }
}
