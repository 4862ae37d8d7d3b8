/// Why a NAL unit can't be read.
public enum NALError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The unit ends within a syntax element.
  case truncated
  /// A syntax element has a value that the standard rules out: which, and the value.
  case outOfRange(element: String, value: UInt32)

  public var description: String {
    switch self {
    case .truncated: "the NAL unit ends too early"
    case .outOfRange(let element, let value): "\(element) is \(value), which is not allowed"
    }
  }
}
