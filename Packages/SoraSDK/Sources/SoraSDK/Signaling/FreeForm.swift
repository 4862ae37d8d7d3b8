import Foundation
import SoraSignaling

/// A value of the app, taken over as JSON when it is assigned.
///
/// The app's value may be of any type, sendable or not; what is kept is a value of our own, so that configurations and
/// messages can cross threads. What can't be JSON is remembered, and reported by `connect`.
struct FreeForm: Sendable {
  private(set) var json: JSONValue?
  private(set) var error: SignalingError?

  init() {}
  init(json: JSONValue?) { self.json = json }

  init(encoding value: (any Encodable)?) {
    guard let value else { return }
    do throws(SignalingError) {
      json = try JSONValue(encoding: value)
    } catch {
      self.error = error
    }
  }

  init(object value: Any?) {
    guard let value else { return }
    do throws(SignalingError) {
      json = try JSONValue(object: value)
    } catch {
      self.error = error
    }
  }

  /// The value in the types of `JSONSerialization`.
  var object: Any? { json.map(\.object) }
  /// The value as something to encode again.
  var encodable: (any Encodable)? { json }
}
