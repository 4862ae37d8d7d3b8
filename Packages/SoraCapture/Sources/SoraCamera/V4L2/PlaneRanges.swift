/// Where the data lies in each plane of a buffer's memory. Without an array, which would be an allocation for each frame.
package struct PlaneRanges: ExpressibleByArrayLiteral, Equatable, Sendable {
  /// The most planes that a buffer has: CSoraV4L2's SORA_V4L2_PLANES.
  package static let most = 4

  // A tuple: spans that are borrowed from what holds an InlineArray can't be returned any further.
  private var ranges = (0..<0, 0..<0, 0..<0, 0..<0)
  package private(set) var count = 0

  package init() {}

  package init(arrayLiteral ranges: Range<Int>...) {
    for range in ranges { append(range) }
  }

  /// Adds the range of the next plane, of `most`.
  package mutating func append(_ range: Range<Int>) {
    switch count {
    case 0: ranges.0 = range
    case 1: ranges.1 = range
    case 2: ranges.2 = range
    default:
      precondition(count < Self.most)
      ranges.3 = range
    }
    count += 1
  }

  package subscript(plane: Int) -> Range<Int> {
    precondition(plane < count)
    return switch plane {
    case 0: ranges.0
    case 1: ranges.1
    case 2: ranges.2
    default: ranges.3
    }
  }

  package static func == (a: PlaneRanges, b: PlaneRanges) -> Bool {
    // What lies behind `count` is empty.
    a.count == b.count && a.ranges == b.ranges
  }
}
