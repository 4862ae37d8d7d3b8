import SoraMedia

/// Lends pictures in the driver's buffers. Confined to the thread that captures.
///
/// A picture that nobody kept is lent again with its buffer, so that steady state allocates nothing.
struct BufferLender {
  private struct Slot {
    let buffer: CaptureBuffer
    /// Ends a loan, which its picture does with its last reference. Made once: a closure is an allocation.
    let end: @Sendable () -> Void
    /// The latest picture, unless somebody has kept it.
    var picture: PixelBuffer?
    /// Where its data lies.
    var parts = PlaneRanges()
  }

  private let loans: BufferLoans
  private let layout: PictureLayout
  private var slots: [Slot]

  init(_ buffers: [CaptureBuffer], _ layout: PictureLayout, _ loans: BufferLoans) {
    self.loans = loans
    self.layout = layout
    slots = buffers.enumerated().map { index, buffer in
      // Holds the memory for the picture.
      Slot(buffer: buffer, end: { withExtendedLifetime(buffer) { loans.end(index) } })
    }
  }

  /// What the driver wrote; nil where it names a buffer or bytes that there aren't.
  func contents(of filled: FilledBuffer) -> FilledMemory? {
    slots.indices.contains(filled.index) ? slots[filled.index].buffer.contents(filled.parts) : nil
  }

  /// A picture in the driver's memory, for `settle` when it was delivered; nil where too many are lent already, or it can't be read from
  /// there. The buffer is the caller's still, then.
  mutating func lend(_ filled: FilledBuffer) -> PixelBuffer? {
    let index = filled.index
    guard slots.indices.contains(index) else { return nil }
    // Before the loan begins, which the picture of another would end.
    if slots[index].parts != filled.parts { slots[index].picture = nil }
    guard loans.begin(index) else { return nil }
    if let picture = slots[index].picture { return picture }
    guard let contents = slots[index].buffer.contents(filled.parts),
      let picture = layout.lend(contents, release: slots[index].end)
    else {
      loans.cancel(index)
      return nil
    }
    slots[index].picture = picture
    slots[index].parts = filled.parts
    return picture
  }

  /// Ends a loan at once where nobody has kept the picture; otherwise its last reference does.
  mutating func settle(_ index: Int) {
    if isKnownUniquelyReferenced(&slots[index].picture) {
      loans.end(index)
    } else {
      slots[index].picture = nil
    }
  }
}
