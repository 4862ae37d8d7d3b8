import Foundation

/// Where a Redis or Valkey is, and what lets one in. Its description has no password.
public struct RedisAddress: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  public let host: String
  public let port: Int
  /// The number of the database; 0 is a Redis's first.
  public let database: Int
  let user: String?
  let password: String?

  /// Reads `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`, with reserved characters of user and password in percent encoding.
  ///
  /// - Parameters:
  ///   - url: the URL. Port 6379 and database 0 where it names none.
  ///   - other: the password that counts where the URL has none.
  /// - Throws: what is wrong, without repeating the URL, which may hold a password.
  public init(_ url: String, password other: String? = nil) throws(ClusterError) {
    guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty else {
      throw .invalidURL("write redis://HOST:PORT, or redis://HOST:PORT/DATABASE")
    }
    guard parts.scheme?.lowercased() == "redis" else {
      throw .invalidURL("only redis:// is spoken; where TLS is needed, put a tunnel between")
    }
    guard parts.query == nil, parts.fragment == nil else {
      throw .invalidURL("nothing follows the database")
    }
    guard (1...65_535).contains(parts.port ?? 6379) else {
      throw .invalidURL("the port is a number from 1 to 65535")
    }
    let path = parts.path.drop { $0 == "/" }
    guard let database = path.isEmpty ? 0 : Int(path), (0...65_535).contains(database) else {
      throw .invalidURL("the database is a number from 0 on")
    }
    // An address of IPv6 stands in brackets there, and nowhere else.
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    self.port = parts.port ?? 6379
    self.database = database
    user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
    password = parts.password.flatMap { $0.isEmpty ? nil : $0 } ?? other
  }

  /// Host, port and database.
  public var description: String {
    (host.contains(":") ? "[\(host)]" : host) + ":\(port)/\(database)"
  }

  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a cluster can't be joined, or asked.
public enum ClusterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No URL of a Redis, with what to write.
  case invalidURL(_ wayOut: String)
  /// hiredis can't be loaded.
  case noLibrary(String)
  /// No connection, or it broke, or no reply came in time.
  case unreachable(String)
  /// The Redis has refused a command, or has replied what makes no sense.
  case refused(String)

  public var description: String {
    switch self {
    case .invalidURL(let wayOut): wayOut
    case .noLibrary(let reason):
      "hiredis can't be loaded: \(reason); install Debian's libhiredis-dev"
    case .unreachable(let reason): "the Redis can't be reached: \(reason)"
    case .refused(let reason): "the Redis has refused: \(reason)"
    }
  }
}
