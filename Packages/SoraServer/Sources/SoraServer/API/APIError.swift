import SoraSignaling
import SoraSignalingMessages

/// Why a request of the HTTP API isn't answered with what it asks for.
///
/// Its JSON has `error_type`, a word for programs, and `error_reason`, the value and the way out for people.
struct APIError: Error {
  /// Of HTTP.
  let status: Int
  let type: String
  let reason: String

  /// 400: the request can't be understood, or asks for what can't be.
  static func invalid(_ type: String, _ reason: String) -> APIError {
    APIError(status: 400, type: type, reason: reason)
  }

  /// 404: nobody and nothing has that name.
  static func unknown(_ selection: SFUSelection) -> APIError {
    if let id = selection.connectionID {
      return APIError(
        status: 404, type: "CONNECTION-NOT-FOUND",
        reason: "channel \(selection.channelID) has no connection \(id)")
    }
    if let id = selection.clientID {
      return APIError(
        status: 404, type: "CLIENT-NOT-FOUND",
        reason: "channel \(selection.channelID) has no client \(id)")
    }
    return APIError(
      status: 404, type: "CHANNEL-NOT-FOUND",
      reason: "channel \(selection.channelID) has no such connections")
  }

  var response: HTTPResponse {
    HTTPResponse(
      status: status, json: ["error_type": .string(type), "error_reason": .string(reason)])
  }
}

extension HTTPResponse {
  init(status: Int = 200, json: JSONValue) {
    self.init(status: status, contentType: "application/json", text: json.text + "\n")
  }
}
