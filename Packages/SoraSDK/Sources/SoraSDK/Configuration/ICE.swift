public import Foundation
import Synchronization
import WebRTC

/// A candidate as signaling carries it, coded as a bare string.
public final class ICECandidate: Equatable, Codable, Sendable {
  private let state: Mutex<(url: URL?, sdp: String)>

  /// The server that it came from.
  public var url: URL? {
    get { state.withLock { $0.url } }
    set { state.withLock { $0.url = newValue } }
  }
  /// The candidate line.
  public var sdp: String {
    get { state.withLock { $0.sdp } }
    set { state.withLock { $0.sdp = newValue } }
  }

  public init(url: URL?, sdp: String) { state = Mutex((url, sdp)) }

  public convenience init(from decoder: any Decoder) throws {
    self.init(url: nil, sdp: try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(sdp)
  }

  public static func == (a: ICECandidate, b: ICECandidate) -> Bool {
    a.url == b.url && a.sdp == b.sdp
  }
}

/// A STUN or TURN server of the offer.
public final class ICEServerInfo: CustomStringConvertible, Codable, Sendable {
  private struct State: Sendable {
    var urls: [String]
    var userName: String?
    var credential: String?
    var tlsSecurityPolicy: TLSSecurityPolicy
  }
  private let state: Mutex<State>

  public var urls: [String] {
    get { state.withLock { $0.urls } }
    set { state.withLock { $0.urls = newValue } }
  }
  /// `username` in JSON.
  public var userName: String? {
    get { state.withLock { $0.userName } }
    set { state.withLock { $0.userName = newValue } }
  }
  public var credential: String? {
    get { state.withLock { $0.credential } }
    set { state.withLock { $0.credential = newValue } }
  }
  /// Not coded.
  public var tlsSecurityPolicy: TLSSecurityPolicy {
    get { state.withLock { $0.tlsSecurityPolicy } }
    set { state.withLock { $0.tlsSecurityPolicy = newValue } }
  }

  public init(
    urls: [String], userName: String?, credential: String?, tlsSecurityPolicy: TLSSecurityPolicy
  ) {
    state = Mutex(
      State(
        urls: urls, userName: userName, credential: credential, tlsSecurityPolicy: tlsSecurityPolicy
      ))
  }

  private enum CodingKeys: String, CodingKey {
    case urls, username, credential
  }

  public convenience init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      urls: try container.decode([String].self, forKey: .urls),
      userName: try container.decodeIfPresent(String.self, forKey: .username),
      credential: try container.decodeIfPresent(String.self, forKey: .credential),
      tlsSecurityPolicy: .secure)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(urls, forKey: .urls)
    try container.encodeIfPresent(userName, forKey: .username)
    try container.encodeIfPresent(credential, forKey: .credential)
  }

  /// The server's JSON text.
  public var description: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "\(urls)"
  }

  var native: RTCIceServer {
    RTCIceServer(
      urlStrings: urls, username: userName, credential: credential,
      tlsCertPolicy: tlsSecurityPolicy == .secure ? .secure : .insecureNoCheck)
  }
}
