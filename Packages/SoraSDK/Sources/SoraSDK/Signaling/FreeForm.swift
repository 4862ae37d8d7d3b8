import Foundation
import SoraSignaling

/// A value of the app, taken over as JSON when it is assigned.
///
/// The app's value may be of any type, sendable or not; what is kept is a value of our own, so that configurations and
/// messages can cross threads. Why it couldn't be taken over is remembered, and reported by `connect`.
struct FreeForm: Sendable {
  private(set) var json: JSONValue?
  private(set) var error: SignalingError?

  init() {}
  init(json: JSONValue?) { self.json = json }

  /// - Parameter type: what the protocol has in this place; a value that isn't of its form is an error.
  init<Content: FieldContent>(
    encoding value: (any Encodable)?, as type: Content.Type = JSONValue.self
  ) {
    guard let value else { return }
    take(type) { () throws(SignalingError) in try JSONValue(encoding: value) }
  }

  /// - Parameter type: what the protocol has in this place; a value that isn't of its form is an error.
  init<Content: FieldContent>(object value: Any?, as type: Content.Type = JSONValue.self) {
    guard let value else { return }
    take(type) { () throws(SignalingError) in try JSONValue(object: value) }
  }

  private mutating func take<Content: FieldContent>(
    _ type: Content.Type, _ convert: () throws(SignalingError) -> JSONValue
  ) {
    do throws(SignalingError) {
      let value = try convert()
      _ = try Content.read(value, path: "$")
      json = value
    } catch {
      self.error = error
    }
  }

  /// The value as what it was declared to be; nil without one.
  func value<Content: FieldContent>() -> Content? {
    json.flatMap { try? Content.read($0, path: "$") }
  }

  /// The value in the types of `JSONSerialization`.
  var object: Any? { json.map(\.object) }
  /// The value as something to encode again.
  var encodable: (any Encodable)? { json }
}
