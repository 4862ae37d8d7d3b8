/// The keys of one kind of object of the protocol, each declared once as a `Field`.
public protocol SignalingFields: Sendable {
  static var schema: Schema<Self> { get }
}

/// The keys of an object of which none is required.
public protocol OptionalFields: SignalingFields {}

/// The fields of an object, by property and as a list.
public struct Schema<Fields: Sendable>: Sendable {
  let fields: Fields
  let all: [any AnyField]
  let names: Set<String>

  /// Finds the fields among the properties, in the order of their declaration.
  ///
  /// - Precondition: every property is a `Field`, and no two have the same name.
  public init(_ fields: Fields) {
    self.fields = fields
    all = Mirror(reflecting: fields).children.map { child in
      guard let field = child.value as? any AnyField else {
        preconditionFailure("\(Fields.self).\(child.label ?? "?") is no Field")
      }
      return field
    }
    names = Set(all.map(\.name))
    precondition(names.count == all.count, "\(Fields.self) declares a key twice")
  }
}

/// A JSON object of the protocol: a message, or an object inside of one.
///
/// Its fields are read and set like properties, by the names that `Fields` gives them. Keys that `Fields` doesn't declare
/// are kept, so that what is passed on loses nothing. A field that is nil is absent on the wire.
@dynamicMemberLookup
public struct SignalingObject<Fields: SignalingFields>: Sendable, Hashable {
  /// In the form that `AnyField.normalize` gives.
  private var members: [String: JSONValue]

  /// - Parameter members: in that form; who leaves out a required key sets it at once.
  init(members: [String: JSONValue]) { self.members = members }

  public subscript<Value>(dynamicMember field: KeyPath<Fields, Field<Value>>) -> Value {
    get { Fields.schema.fields[keyPath: field].value(in: members) }
    set { Fields.schema.fields[keyPath: field].put(newValue, into: &members) }
  }

  /// Keys that this version doesn't know. A declared key in them is ignored.
  public var additional: [String: JSONValue] {
    get { members.filter { !Fields.schema.names.contains($0.key) } }
    set {
      let names = Fields.schema.names
      members = members.filter { names.contains($0.key) }
      for (key, value) in newValue where !names.contains(key) { members[key] = value }
    }
  }
}

extension SignalingObject: FieldContent {
  public static func read(
    _ json: JSONValue, path: @autoclosure () -> String
  ) throws(SignalingError) -> SignalingObject {
    guard case .object(let members) = json else {
      throw .invalid(path(), json, expected: expectation)
    }
    var object = SignalingObject(members: members)
    for field in Fields.schema.all { try field.normalize(&object.members, path: path) }
    return object
  }

  public var json: JSONValue { .object(members) }
  public static var expectation: String { "an object" }

  /// Applies the rules that the fields declare, such as ranges, which reading doesn't.
  ///
  /// - Parameter path: where the object stands, for the error, such as `connect`.
  public func check(path: String) throws(SignalingError) {
    for field in Fields.schema.all { try field.check(members, path: path) }
  }

  /// The object's own unknown keys, then those of its fields' values.
  public func unknownKeys(path: String) -> [String] {
    let own = members.keys.filter { !Fields.schema.names.contains($0) }.sorted()
    return own.map { "\(path).\($0)" }
      + Fields.schema.all.flatMap { $0.unknownKeys(in: members, path: path) }
  }
}

extension SignalingObject: CustomStringConvertible {
  /// The JSON text.
  public var description: String { json.text }
}

extension SignalingObject where Fields: OptionalFields {
  /// An object with the fields that `change` sets.
  public init(_ change: (inout SignalingObject) -> Void = { _ in }) {
    self.init(members: [:])
    change(&self)
  }
}
