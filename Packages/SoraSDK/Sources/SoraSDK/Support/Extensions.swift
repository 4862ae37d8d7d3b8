public import WebRTC

extension Array {
  /// Removes every element that `predicate` matches. `element` is there for source compatibility and isn't used.
  public mutating func remove(_ element: Element, where predicate: (Element) -> Bool) {
    removeAll(where: predicate)
  }
}

extension Array where Element: Equatable {
  /// Removes every element equal to `element`.
  public mutating func remove(_ element: Element) { removeAll { $0 == element } }
}

extension Optional {
  /// The value, or what `ifNone` gives or throws.
  public func unwrap(ifNone: () throws -> Wrapped) rethrows -> Wrapped {
    switch self {
    case .some(let value): value
    case .none: try ifNone()
    }
  }
}

extension RTCSessionDescription {
  /// The SDP without empty lines, joined by line feeds.
  public var sdpDescription: String {
    sdp.split(whereSeparator: \.isNewline).joined(separator: "\n")
  }
}
