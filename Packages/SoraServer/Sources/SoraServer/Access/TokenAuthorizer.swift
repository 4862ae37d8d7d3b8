import Foundation
import SoraClock
import SoraDigest
import SoraSignalingMessages
import SoraWire

/// Lets in who has the server's key, or a token that is signed with it: a JWT (RFC 7519) with HS256, in `metadata.access_token`.
struct TokenAuthorizer: Authorizer {
  private let key: SecretKey
  /// Seconds since 1970.
  private let now: @Sendable () -> Double

  /// Bytes at most: a token of this protocol has a few hundred.
  private static let maximumSize = 16 * 1024
  private static let algorithm = "HS256"

  init(
    _ key: SecretKey,
    now: @escaping @Sendable () -> Double = { Double(SystemClock.realtimeNanoseconds) / 1e9 }
  ) {
    self.key = key
    self.now = now
  }

  func authorize(_ applicant: AccessApplicant) async -> AccessDecision {
    do throws(AccessRefusal) {
      let token = try Self.token(of: applicant.asked.connect)
      if key.matches(token) { return .granted(GrantSettings()) }
      let claims = try verified(token)
      try check(claims, channelID: applicant.asked.connect.channelID)
      return .granted(try Self.settings(claims))
    } catch {
      return .refused(reason: error.reason, detail: error.detail)
    }
  }

  private static func token(of connect: ConnectMessage) throws(AccessRefusal) -> String {
    guard let token = connect.metadata?["access_token"], !token.isNull else {
      throw AccessRefusal(
        reason: "ACCESS-TOKEN-MISSING: send metadata.access_token", detail: nil)
    }
    guard case .string(let text) = token, !text.isEmpty, text.utf8.count <= maximumSize else {
      throw invalid("send it as a text of \(maximumSize) bytes at most")
    }
    return text
  }

  private static func invalid(_ wayOut: String) -> AccessRefusal {
    AccessRefusal(reason: "ACCESS-TOKEN-INVALID: \(wayOut)", detail: nil)
  }

  /// The claims of a token whose signature is right. Its header may choose nothing: which algorithm it is, is the server's affair.
  private func verified(_ token: String) throws(AccessRefusal) -> JSONValue {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.json(parts[0]), header.objectValue != nil,
      let claims = Self.json(parts[1])
    else { throw Self.invalid("it is neither the server's key nor a JWT") }
    guard header["alg"] == .string(Self.algorithm) else {
      throw Self.invalid("its algorithm must be \(Self.algorithm)")
    }
    // RFC 7515 §4.1.11: extensions that have to be understood, of which there are none here.
    guard header["crit"] == nil else { throw Self.invalid("its header's crit names extensions") }
    let signed = signature(of: "\(parts[0]).\(parts[1])")
    guard SecretKey.same(Array(parts[2].utf8), Array(signed.utf8)) else {
      throw Self.invalid("it is not signed with the server's key")
    }
    return claims
  }

  /// What is the third part of a token whose first two these are (RFC 7515 §5.1, RFC 7518 §3.2).
  private func signature(of input: String) -> String {
    var code = [UInt8](repeating: 0, count: 32)
    code.withMutableRawSpan {
      HMAC.sha256(Array(input.utf8).rawSpan, key: key.bytes.rawSpan, into: &$0)
    }
    return Data(code).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  /// A part of a token (RFC 7515 §2: base64url without padding).
  private static func json(_ part: Substring) -> JSONValue? {
    var text = String(part).replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: text) else { return nil }
    return try? JSONValue(parsing: Array(data))
  }

  private func check(_ claims: JSONValue, channelID: String) throws(AccessRefusal) {
    guard claims.objectValue != nil else { throw Self.invalid("its claims must be an object") }
    if let expiry = try Self.time("exp", claims), expiry <= now() {
      throw AccessRefusal(reason: "ACCESS-TOKEN-EXPIRED: get a new one", detail: nil)
    }
    if let start = try Self.time("nbf", claims), start > now() {
      throw Self.invalid("it isn't valid yet")
    }
    switch claims["channel_id"] {
    case nil, .null?: break
    case .string(channelID)?: break
    case .string?:
      throw AccessRefusal(reason: "ACCESS-TOKEN-CHANNEL: it is for another channel", detail: nil)
    default: throw Self.invalid("its channel_id must be a text")
    }
  }

  /// A date of RFC 7519 §2: seconds since 1970, whole or not.
  private static func time(
    _ name: String, _ claims: JSONValue
  ) throws(AccessRefusal) -> Double? {
    guard let value = claims[name], !value.isNull else { return nil }
    guard let time = value.doubleValue else { throw invalid("its \(name) must be a number") }
    return time
  }

  private static func settings(_ claims: JSONValue) throws(AccessRefusal) -> GrantSettings {
    do throws(SignalingError) {
      let settings = try GrantSettings.read(claims, path: "claim")
      try settings.check(path: "claim")
      return settings
    } catch {
      throw invalid(error.wayOut)
    }
  }
}
