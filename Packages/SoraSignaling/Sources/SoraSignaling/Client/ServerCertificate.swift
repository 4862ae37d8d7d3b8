import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A TLS server's certificate, taken without trusting it: to say what is wrong with one.
public struct ServerCertificate: Sendable, Hashable {
  /// Names and addresses that it is for (RFC 5280 §4.2.1.6); empty where it has none.
  public var names: [String]
  /// From when on it is good, in seconds since 1970.
  public var notBefore: Int64
  /// Until when it is good, in seconds since 1970.
  public var notAfter: Int64
  /// Its public key (`SubjectPublicKeyInfo` in DER), as `WebSocketOptions.acceptsKey` gets it; nil where it can't be read.
  public var publicKey: [UInt8]?

  /// Opens a TLS connection to a `wss:` URL's host, as far as the handshake, and closes it.
  ///
  /// - Parameters:
  ///   - url: where the server signals.
  ///   - proxy: the way there; nil is the direct one.
  ///   - timeout: from the call until the certificate is there.
  /// - Throws: where the attempt ended, as `WebSocketClient.connect` does.
  public static func fetch(
    url: String, proxy: ProxyOptions? = nil, timeout: Duration = .seconds(5)
  ) async throws(SignalingError) -> ServerCertificate {
    let endpoint = try WebSocketEndpoint(url)
    let context = try TLSContexts.client(TLSOptions(insecure: true))
    let attempt = WebSocketConnectAttempt(
      endpoint: endpoint, options: WebSocketOptions(proxy: proxy, timeout: timeout))
    attempt.stage = .connect
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let certificate = eventLoop.makePromise(of: ServerCertificate.self)
    let deadline = eventLoop.scheduleTask(in: TimeAmount(timeout)) {
      certificate.fail(ChannelError.connectTimeout(TimeAmount(timeout)))
    }
    defer { deadline.cancel() }
    do {
      let channel = try await ClientBootstrap(group: eventLoop)
        .connectTimeout(TimeAmount(timeout))
        .connect(host: proxy?.host ?? endpoint.host, port: proxy?.port ?? endpoint.port).get()
      defer { channel.close(promise: nil) }
      try await channel.eventLoop.submit {
        try begin(channel, attempt, context, certificate)
      }.get()
      return try await certificate.futureResult.get()
    } catch {
      // Where there was no connection, nobody else settles it.
      certificate.fail(error)
      throw ConnectErrors.map(error, attempt: attempt).at(url: url)
    }
  }

  /// On the loop, with an open connection: proxy first, then TLS.
  private static func begin(
    _ channel: any Channel, _ attempt: WebSocketConnectAttempt, _ context: NIOSSLContext,
    _ certificate: EventLoopPromise<ServerCertificate>
  ) throws {
    // The stage first: each begins as soon as its handler is there.
    let shakeHands = { (channel: any Channel) in
      attempt.stage = .tls
      try channel.pipeline.syncOperations.addHandlers([
        NIOSSLClientHandler(context: context, serverHostname: attempt.endpoint.serverName),
        CertificateReader(certificate),
      ])
    }
    attempt.stage = attempt.options.proxy == nil ? .tls : .proxy
    // Nobody but us would notice that it was closed in the meantime.
    guard channel.isActive else { throw ConnectErrors.ended(attempt.stage) }
    guard let proxy = attempt.options.proxy else { return try shakeHands(channel) }
    try ProxyTunnel.open(
      proxy, over: channel, to: attempt.endpoint.host, port: attempt.endpoint.port,
      userAgent: attempt.options.userAgent, fail: { certificate.fail($0) }, next: shakeHands)
  }

  fileprivate init(_ certificate: NIOSSLCertificate) {
    notBefore = Int64(certificate.notValidBefore)
    notAfter = Int64(certificate.notValidAfter)
    publicKey = try? certificate.extractPublicKey().toSPKIBytes()
    // The library gives names only as text.
    let mark = ";alternative_names="
    let text = certificate.description
    if let start = text.ranges(of: mark).first?.upperBound {
      names = text[start...].dropLast().split(separator: ",").map(String.init)
    } else {
      names = []
    }
  }
}

/// Settles the promise once the handshake is over, one way or the other.
private final class CertificateReader: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let promise: EventLoopPromise<ServerCertificate>

  init(_ promise: EventLoopPromise<ServerCertificate>) { self.promise = promise }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent {
      if let found = try? context.channel.pipeline.syncOperations.nioSSL_peerCertificate() {
        promise.succeed(ServerCertificate(found))
      } else {
        promise.fail(NIOSSLError.noCertificateToValidate)
      }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { promise.fail(error) }

  func channelInactive(context: ChannelHandlerContext) {
    promise.fail(ConnectErrors.ended(.tls))
    context.fireChannelInactive()
  }
}
