/// The value of one attribute, read from and written to text.
public protocol SDPAttributeValue: Sendable, Hashable {
  /// The attribute's name, as in `a=name:value`.
  static var attributeName: String { get }
  /// Reads what follows the colon; nil where it is malformed.
  init?(parsing value: String)
  /// What follows the colon.
  var attributeValue: String { get }
}
