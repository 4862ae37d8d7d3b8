import SoraMedia
import SoraSignalingMessages

/// The keys of a request's body, read one by one: what is missing or of another kind is an error that names it.
struct APIBody: Sendable {
  private let object: [String: JSONValue]

  /// Bytes at most; the HTTP server takes no more.
  private static let maximumSize = 1 << 20

  /// - Parameter bytes: a JSON object; nothing counts as an empty one.
  init(_ bytes: [UInt8]) throws(APIError) {
    guard !bytes.isEmpty else {
      object = [:]
      return
    }
    let value: JSONValue
    do throws(SignalingError) {
      value = try JSONValue(parsing: bytes, maximumSize: Self.maximumSize)
    } catch {
      throw .invalid("INVALID-JSON", "the body is no JSON: \(error.detail)")
    }
    guard let object = value.objectValue else {
      throw .invalid("INVALID-JSON", "the body is no JSON object")
    }
    self.object = object
  }

  private init(_ object: [String: JSONValue]) { self.object = object }

  /// The value of a key as it is; nil where it isn't there.
  func value(_ key: String) -> JSONValue? { object[key] }

  func text(_ key: String) throws(APIError) -> String {
    guard let text = try optionalText(key), !text.isEmpty else {
      throw .invalid("MISSING-FIELD", "\(key): a text is needed")
    }
    return text
  }

  func optionalText(_ key: String) throws(APIError) -> String? {
    guard let value = given(key) else { return nil }
    guard let text = value.stringValue else { throw wrong(key, "send a text") }
    return text
  }

  func flag(_ key: String) throws(APIError) -> Bool? {
    guard let value = given(key) else { return nil }
    guard let flag = value.boolValue else { throw wrong(key, "send true or false") }
    return flag
  }

  /// A whole number of seconds.
  func seconds(_ key: String, _ range: ClosedRange<Int>) throws(APIError) -> Duration? {
    guard let value = given(key) else { return nil }
    guard let seconds = value.intValue, range.contains(seconds) else {
      throw wrong(key, "send whole seconds from \(range.lowerBound) to \(range.upperBound)")
    }
    return .seconds(seconds)
  }

  func role(_ key: String) throws(APIError) -> SignalingRole {
    guard let role = SignalingRole(rawValue: try text(key)) else {
      throw wrong(key, "send sendonly, recvonly or sendrecv")
    }
    return role
  }

  func rid(_ key: String) throws(APIError) -> SignalingRid {
    guard let rid = SignalingRid(rawValue: try text(key)) else {
      throw wrong(key, "send none, r0, r1 or r2")
    }
    return rid
  }

  func number(_ key: String, _ range: ClosedRange<Int>) throws(APIError) -> Int {
    guard let number = given(key)?.intValue, range.contains(number) else {
      throw wrong(key, "send a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Objects in an array.
  func items(_ key: String, most: Int) throws(APIError) -> [APIBody] {
    guard let items = given(key)?.arrayValue, (1...most).contains(items.count) else {
      throw wrong(key, "send an array of 1 to \(most) objects")
    }
    var bodies: [APIBody] = []
    for item in items {
      guard let object = item.objectValue else { throw wrong(key, "send objects in it") }
      bodies.append(APIBody(object))
    }
    return bodies
  }

  func wrong(_ key: String, _ wayOut: String) -> APIError {
    .invalid("INVALID-FIELD", "\(key): \(wayOut)")
  }

  /// `null` says as little as nothing.
  private func given(_ key: String) -> JSONValue? {
    guard let value = object[key], !value.isNull else { return nil }
    return value
  }
}

/// A request whose body says nothing.
struct APINothing: Sendable {
  init(_ body: APIBody) {}
}

extension SFUSelection {
  static func channel(_ body: APIBody) throws(APIError) -> SFUSelection {
    SFUSelection(channelID: try body.text("channel_id"))
  }

  static func client(_ body: APIBody) throws(APIError) -> SFUSelection {
    SFUSelection(
      channelID: try body.text("channel_id"), clientID: try body.text("client_id"))
  }

  static func connection(_ body: APIBody) throws(APIError) -> SFUSelection {
    SFUSelection(
      channelID: try body.text("channel_id"), connectionID: try body.text("connection_id"))
  }

  static func role(_ body: APIBody) throws(APIError) -> SFUSelection {
    SFUSelection(channelID: try body.text("channel_id"), role: try body.role("role"))
  }
}
