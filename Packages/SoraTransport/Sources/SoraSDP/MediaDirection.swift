/// Who sends in a media section, from the point of view of the one that writes the description.
public enum MediaDirection: String, Sendable, Hashable, CaseIterable {
  case sendrecv
  case sendonly
  case recvonly
  case inactive

  public init(sends: Bool, receives: Bool) {
    self = sends ? (receives ? .sendrecv : .sendonly) : (receives ? .recvonly : .inactive)
  }

  /// Whether the writer sends.
  public var sends: Bool { self == .sendrecv || self == .sendonly }

  /// Whether the writer receives.
  public var receives: Bool { self == .sendrecv || self == .recvonly }

  /// The same, seen from the other side.
  public var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }

  /// What both allow.
  public func intersection(_ other: MediaDirection) -> MediaDirection {
    MediaDirection(sends: sends && other.sends, receives: receives && other.receives)
  }
}
