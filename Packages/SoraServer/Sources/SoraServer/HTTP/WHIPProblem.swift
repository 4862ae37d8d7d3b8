import Foundation
import SoraSignaling
import SoraSignalingMessages

/// Why a request of WHIP or WHEP isn't served. Its body is that of RFC 9457.
struct WHIPProblem: Error, Hashable {
  let status: Int
  /// A word for programs.
  let title: String
  /// For people: what is wrong, and what to do.
  let detail: String
  var headers: HeaderFields = [:]

  var response: HTTPResponse {
    let json: JSONValue = [
      "type": "about:blank", "title": .string(title), "status": .integer(Int64(status)),
      "detail": .string(detail),
    ]
    var response = HTTPResponse(
      status: status, contentType: "application/problem+json", text: json.text + "\n")
    response.headers.fields += headers.fields
    return response
  }

  static let notFound = WHIPProblem(
    status: 404, title: "NOT-FOUND",
    detail: "post to /whip/CHANNEL or /whep/CHANNEL; a session that has ended isn't there any more")

  static func method(_ allowed: [String]) -> WHIPProblem {
    let list = allowed.joined(separator: ", ")
    return WHIPProblem(
      status: 405, title: "METHOD-NOT-ALLOWED", detail: "send one of \(list)",
      headers: ["Allow": list])
  }

  /// - Parameters:
  ///   - wanted: the media type that a body must have.
  ///   - field: in which the answer names it.
  static func mediaType(_ wanted: String, _ field: String) -> WHIPProblem {
    WHIPProblem(
      status: 415, title: "WRONG-CONTENT-TYPE", detail: "send Content-Type: \(wanted)",
      headers: [field: wanted])
  }

  static let notUTF8 = WHIPProblem(
    status: 400, title: "MALFORMED-BODY", detail: "the body isn't UTF-8")

  static let tooLarge = WHIPProblem(
    status: 413, title: "BODY-TOO-LARGE", detail: "a description has at most 256 KiB")

  /// RFC 6750 §3.
  static func unauthorized(_ title: String, _ detail: String) -> WHIPProblem {
    WHIPProblem(
      status: 401, title: title, detail: detail, headers: ["WWW-Authenticate": "Bearer"])
  }

  static let noCondition = WHIPProblem(
    status: 428, title: "IF-MATCH-MISSING", detail: "send If-Match with the session's ETag, or *")

  static let otherGeneration = WHIPProblem(
    status: 412, title: "IF-MATCH-FAILED", detail: "ICE has started over since that ETag")

  /// The channel is on another server (RFC 9725 §4.5).
  ///
  /// - Parameters:
  ///   - signaling: that server's signaling URL.
  ///   - path: the request's.
  static func elsewhere(_ signaling: String, path: String) -> WHIPProblem {
    guard var url = URLComponents(string: signaling) else { return unplaced }
    url.scheme = url.scheme == "wss" ? "https" : "http"
    url.path = ""
    url.query = nil
    guard let origin = url.string else { return unplaced }
    let location = origin + path
    return WHIPProblem(
      status: 307, title: "CHANNEL-ELSEWHERE", detail: "post to \(location)",
      headers: ["Location": location])
  }

  static let unplaced = unavailable(
    "CLUSTER-UNAVAILABLE", "where the channel is can't be told at present")

  /// What to try again after some seconds.
  private static func unavailable(_ title: String, _ detail: String) -> WHIPProblem {
    WHIPProblem(status: 503, title: title, detail: detail, headers: ["Retry-After": "5"])
  }

  init(
    status: Int, title: String, detail: String, headers: HeaderFields = [:]
  ) {
    self.status = status
    self.title = title
    self.detail = detail
    self.headers = headers
  }

  init(_ error: SFUOfferError) {
    switch error {
    case .malformed(let detail): self.init(status: 400, title: "MALFORMED-OFFER", detail: detail)
    case .unacceptable(let detail):
      self.init(status: 422, title: "UNACCEPTABLE-OFFER", detail: detail)
    case .full: self = Self.unavailable("SERVER-FULL", "try again later")
    case .draining: self = Self.unavailable("SERVER-SHUTDOWN", "this server is about to stop")
    case .refused(let reason): self.init(refusal: reason)
    }
  }

  /// - Parameter reason: as a client on a WebSocket is told: a word, and often a colon and what to do.
  init(refusal reason: String) {
    let parts = reason.split(separator: ":", maxSplits: 1)
    let title = parts.first.map(String.init) ?? "REFUSED"
    var detail = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "the server refuses that"
    if title == "ACCESS-TOKEN-MISSING" { detail = "send Authorization: Bearer with a token" }
    if title.hasPrefix("ACCESS-TOKEN") {
      self = Self.unauthorized(title, detail)
    } else if title == "CONNECTION-LIMIT" || title == "AUTH-WEBHOOK-ERROR" {
      self = Self.unavailable(title, detail)
    } else {
      self.init(
        status: title.hasPrefix("INVALID-") ? 400 : 403, title: title, detail: detail)
    }
  }
}
