public import SoraCluster

extension ServerConfiguration {
  /// Several servers that share a Redis, and clients: each channel is on one of them.
  public struct Cluster: Sendable {
    /// The Redis or Valkey.
    public var redis: RedisAddress
    /// This server's signaling URL, as the clients of the other servers reach it; nil for its own `url`.
    public var nodeURL: String?
    /// The URL of this server's HTTP API, as the other servers reach it; nil for its own `apiURL`.
    public var nodeAPIURL: String?

    /// - Parameters:
    ///   - redis: the Redis or Valkey.
    ///   - nodeURL: the server's signaling URL for clients; nil for its own.
    ///   - nodeAPIURL: the URL of its HTTP API for other servers; nil for its own.
    public init(redis: RedisAddress, nodeURL: String? = nil, nodeAPIURL: String? = nil) {
      self.redis = redis
      self.nodeURL = nodeURL
      self.nodeAPIURL = nodeAPIURL
    }
  }
}
