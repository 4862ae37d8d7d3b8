import Foundation

extension JSONValue {
  /// The JSON form of any `Encodable` value, e.g. an application's metadata.
  ///
  /// - Throws: `invalidField` with the encoder's words, if the value can't be JSON.
  public init(encoding value: any Encodable) throws(SignalingError) {
    let data: Data
    do {
      data = try JSONEncoder().encode(value)
    } catch {
      throw SignalingError(
        stage: .message, code: .invalidField, value: String(describing: type(of: value)),
        detail: "a value can't be encoded as JSON: \(error)",
        wayOut: "make its Encodable conformance write JSON")
    }
    try self.init(parsing: Array(data))
  }

  /// Decodes an application's type from this value.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
  }

  /// The JSON form of what `JSONSerialization` gives or takes: dictionaries with string keys,
  /// arrays, strings, numbers, `NSNull`, in any nesting within `maximumDepth`.
  ///
  /// - Throws: `invalidField` with the path of the first value that is none of these.
  public init(object value: Any) throws(SignalingError) {
    self = try Self.convert(value, path: "$", depth: 0)
  }

  /// The value in the types of `JSONSerialization`.
  public var object: Any {
    switch self {
    case .null: NSNull()
    case .bool(let value): value
    case .integer(let value): Int(exactly: value) ?? value
    case .unsigned(let value): value
    case .double(let value): value
    case .string(let value): value
    case .array(let elements): elements.map(\.object)
    case .object(let members): members.mapValues(\.object)
    }
  }

  private static func convert(
    _ value: Any, path: String, depth: Int
  ) throws(SignalingError) -> JSONValue {
    guard depth <= maximumDepth else { throw .json(.tooDeep, at: 0, "\(path) nests too deep") }
    // The exact type decides: an NSNumber of 0 or 1 would also pass as a Bool, and a Bool as
    // an NSNumber.
    if type(of: value) == Bool.self, let value = value as? Bool { return .bool(value) }
    switch value {
    case let value as JSONValue: return value
    case let value as String: return .string(value)
    case let value as any BinaryInteger:
      if let exact = Int64(exactly: value) { return .integer(exact) }
      if let exact = UInt64(exactly: value) { return .unsigned(exact) }
    case let value as any BinaryFloatingPoint: return .double(Double(value))
    case let value as NSNumber: return convert(value)
    case let value as [Any]:
      var elements: [JSONValue] = []
      for (index, element) in value.enumerated() {
        elements.append(try convert(element, path: "\(path)[\(index)]", depth: depth + 1))
      }
      return .array(elements)
    case let value as [String: Any]:
      var members: [String: JSONValue] = [:]
      for (key, member) in value {
        members[key] = try convert(member, path: "\(path).\(key)", depth: depth + 1)
      }
      return .object(members)
    case is NSNull: return .null
    default: break
    }
    throw SignalingError(
      stage: .message, code: .invalidField, field: path, value: String(describing: type(of: value)),
      detail: "a value is not JSON", wayOut: "use strings, numbers, booleans, arrays, dictionaries")
  }

  private static func convert(_ number: NSNumber) -> JSONValue {
    // The Objective-C type code: "c" or "B" for booleans, "d" and "f" for floating point.
    switch unsafe UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c"), UInt8(ascii: "B"): .bool(number.boolValue)
    case UInt8(ascii: "d"), UInt8(ascii: "f"): .double(number.doubleValue)
    case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max):
      .unsigned(number.uint64Value)
    default: .integer(number.int64Value)
    }
  }
}
