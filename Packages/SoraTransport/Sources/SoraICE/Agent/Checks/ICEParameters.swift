/// The credentials of one side of an ICE session (RFC 8839 §5.4).
public struct ICEParameters: Hashable, Sendable {
  /// `ice-ufrag`: 4 to 256 characters.
  public var ufrag: String
  /// `ice-pwd`: 22 to 256 characters.
  public var password: String
  /// Whether the side said `ice-lite` (RFC 8839 §5.3).
  public var isLite: Bool

  /// Takes the values as they are: what a session makes for itself.
  init(unchecked ufrag: String, password: String, isLite: Bool) {
    self.ufrag = ufrag
    self.password = password
    self.isLite = isLite
  }

  /// Checks the lengths and the alphabet of both values.
  public init(ufrag: String, password: String, isLite: Bool = false) throws(ICEError) {
    guard (4...256).contains(ufrag.utf8.count), ufrag.utf8.allSatisfy(isICECharacter) else {
      throw .malformedParameters(field: "ufrag", value: String(ufrag.prefix(64)))
    }
    guard (22...256).contains(password.utf8.count), password.utf8.allSatisfy(isICECharacter) else {
      // The password itself isn't repeated: errors end up in logs.
      throw .malformedParameters(field: "pwd", value: "\(password.utf8.count) characters")
    }
    self.init(unchecked: ufrag, password: password, isLite: isLite)
  }
}
