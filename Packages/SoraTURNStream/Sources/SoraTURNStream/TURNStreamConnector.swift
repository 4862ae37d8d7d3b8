import NIOCore
import NIOPosix
import NIOSSL
public import SoraICE
public import SoraSignaling
public import SoraTransport

/// Opens connections to TURN servers over TCP and TLS, directly or through a proxy, with SwiftNIO.
public final class TURNStreamConnector: ICEStreamConnector {
  public struct Configuration: Sendable {
    /// How `turns:` servers are trusted: the system's authorities, a file's, or anybody.
    public var tls = TLSOptions()
    /// The SHA-256 of the one certificate (DER) that a `turns:` server may show, 32 bytes; authorities and names don't count then.
    public var pinnedCertificate: [UInt8]?
    /// Asked for a tunnel to the server: HTTP's `CONNECT` or SOCKS 5.
    public var proxy: ProxyOptions?
    public var userAgent = "Sora Swift SDK"
    /// From the call until the connection is open.
    public var timeout = Duration.seconds(10)

    public init() {}
  }

  public let configuration: Configuration

  public init(configuration: Configuration = Configuration()) { self.configuration = configuration }

  public func open(
    _ server: ICEServer, events: @escaping @Sendable (ICEStreamEvent) -> Void
  ) -> any ICEStreamConnection {
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let connection = TURNStreamConnection(eventLoop: eventLoop, events: events)
    let (configuration, url) = (configuration, server.url)
    let milliseconds = Int64(configuration.timeout / .milliseconds(1))
    // From a later event-loop iteration, so that no event comes before the caller has the connection.
    eventLoop.execute {
      eventLoop.scheduleTask(in: .milliseconds(milliseconds)) {
        connection.endUnlessOpen("it was not open within \(configuration.timeout)")
      }
      ClientBootstrap(group: eventLoop)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        // Beyond this what is sent is dropped: late media is of no use.
        .channelOption(
          .writeBufferWaterMark, value: .init(low: 256 << 10, high: 1 << 20)
        )
        .connectTimeout(.milliseconds(milliseconds))
        .connect(
          host: configuration.proxy?.host ?? "\(url.host)",
          port: configuration.proxy?.port ?? Int(url.port)
        )
        .whenComplete { result in
          switch result {
          case .failure(let error): connection.end(StreamErrors.text(error))
          case .success(let channel):
            guard connection.attach(channel) else { return channel.close(promise: nil) }
            do {
              try Self.start(channel, connection, server, configuration)
            } catch {
              connection.end(StreamErrors.text(error))
            }
          }
        }
    }
    return connection
  }

  /// On the event loop: proxy first, then TLS, then messages.
  private static func start(
    _ channel: any Channel, _ connection: TURNStreamConnection, _ server: ICEServer,
    _ configuration: Configuration
  ) throws {
    guard let proxy = configuration.proxy else {
      return try addStream(channel, connection, server, configuration)
    }
    try ProxyTunnel.open(
      proxy, over: channel, to: "\(server.url.host)", port: Int(server.url.port),
      userAgent: configuration.userAgent,
      fail: { connection.end(StreamErrors.text($0)) },
      next: { try addStream($0, connection, server, configuration) })
  }

  private static func addStream(
    _ channel: any Channel, _ connection: TURNStreamConnection, _ server: ICEServer,
    _ configuration: Configuration
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    let isSecure = server.url.scheme.isSecure
    if isSecure {
      try pipeline.addHandler(makeTLS(server, configuration))
    }
    try pipeline.addHandler(TURNStreamHandler(connection, waitsForTLS: isSecure))
  }

  private static func makeTLS(
    _ server: ICEServer, _ configuration: Configuration
  ) throws -> NIOSSLClientHandler {
    var options = configuration.tls
    if !server.verifiesCertificate { options.insecure = true }
    // An address has no server name (RFC 6066 §3).
    let name: String? = if case .name(let name) = server.url.host { name } else { nil }
    guard let pin = configuration.pinnedCertificate else {
      return try NIOSSLClientHandler(context: TLSContexts.client(options), serverHostname: name)
    }
    // The pin is the trust: neither authorities nor names are asked.
    options.insecure = false
    return try NIOSSLClientHandler(
      context: TLSContexts.client(options), serverHostname: name,
      customVerificationCallback: { chain, promise in
        let bytes = try? chain.first?.toDERBytes()
        promise.succeed(
          CertificatePin.matches(bytes, pin) ? .certificateVerified : .failed)
      })
  }
}
