import NIOCore
import NIOPosix
import NIOSSL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What the network's and TLS's errors mean to a person.
enum ConnectErrors {
  static func map(_ error: any Error, attempt: WebSocketConnectAttempt) -> SignalingError {
    switch error {
    case let error as SignalingError: return error
    case let error as NIOConnectionError: return connection(error, attempt)
    case ChannelError.connectTimeout: return failure(error, attempt)
    case let error as IOError where attempt.stage <= .connect:
      return failure(error, attempt)
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
      return tls(error, attempt)
    default:
      return SignalingError(
        stage: attempt.stage, code: .connectionLost,
        detail: "the connection broke: \(SystemErrorText.words(error))",
        wayOut: "check the network and the server, then connect again")
    }
  }

  /// The peer closed the TCP connection before the WebSocket was open.
  static func ended(_ stage: SignalingError.Stage) -> SignalingError {
    switch stage {
    case .tls:
      SignalingError(
        stage: .tls, code: .tlsFailed, detail: "the server closed the connection in the handshake",
        wayOut: "check that the port speaks TLS, or use ws:// for one that doesn't")
    case .proxy:
      SignalingError(
        stage: .proxy, code: .connectionLost, field: "proxy",
        detail: "the proxy closed the connection", wayOut: "check the proxy's host and port")
    default:
      SignalingError(
        stage: stage, code: .connectionLost,
        detail: "the server closed the connection before the WebSocket was open",
        wayOut: "check that the port is the signaling port of a Sora (wss:// where it has TLS)")
    }
  }

  /// The server's certificate may be good, its key is another one.
  static func keyRefused(_ attempt: WebSocketConnectAttempt) -> SignalingError {
    SignalingError(
      stage: .tls, code: .certificateNotVerified, field: "acceptsKey",
      value: attempt.endpoint.host, detail: "the server's public key is none that is accepted",
      wayOut: "ask who runs the server whether its key was changed, and pin the new one")
  }

  private static func connection(
    _ error: NIOConnectionError, _ attempt: WebSocketConnectAttempt
  ) -> SignalingError {
    let failures = error.connectionErrors.map(\.error)
    if failures.isEmpty {
      let viaProxy = attempt.options.proxy != nil
      return SignalingError(
        stage: viaProxy ? .proxy : .resolve, code: .hostNotFound,
        field: viaProxy ? "proxy.host" : "url.host", value: error.host,
        detail: "the host name is unknown", wayOut: "check the name and the DNS of this machine")
    }
    // Of several addresses, one that answers "refused" tells most.
    let failure =
      failures.first { ($0 as? IOError)?.errnoCode == ECONNREFUSED } ?? failures[failures.count - 1]
    return self.failure(failure, attempt)
  }

  private static func failure(
    _ error: any Error, _ attempt: WebSocketConnectAttempt
  ) -> SignalingError {
    let proxy = attempt.options.proxy
    let stage: SignalingError.Stage = proxy == nil ? .connect : .proxy
    let field = proxy == nil ? "url" : "proxy"
    let address = proxy.map { "\($0.host):\($0.port)" } ?? attempt.endpoint.authority
    if let error = error as? IOError, error.errnoCode == ECONNREFUSED {
      return SignalingError(
        stage: stage, code: .refused, field: field, value: address,
        detail: "nothing listens there",
        wayOut: proxy == nil
          ? "start the server, or check host and port" : "check the proxy's host and port")
    }
    if case ChannelError.connectTimeout = error {
      return SignalingError(
        stage: stage, code: .timeout, field: field, value: address,
        detail: "the host did not answer", wayOut: "check host, port and firewall")
    }
    return SignalingError(
      stage: stage, code: .unreachable, field: field, value: address,
      detail: "the host can't be reached: \(SystemErrorText.words(error))",
      wayOut: "check the network of this machine and the address")
  }

  private static func tls(
    _ error: any Error, _ attempt: WebSocketConnectAttempt
  ) -> SignalingError {
    let text = String(describing: error)
    let stage: SignalingError.Stage = attempt.stage == .proxy ? .tls : attempt.stage
    if case NIOSSLError.uncleanShutdown = error { return ended(stage) }
    let isVerification =
      text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("failedToValidateHostname")
      || error is NIOSSLExtraError
      || { if case NIOSSLError.unableToValidateCertificate = error { true } else { false } }()
    if isVerification {
      return SignalingError(
        stage: .tls, code: .certificateNotVerified, field: "tls.trust",
        value: attempt.endpoint.host,
        detail: "the server's certificate is not trusted for this host",
        wayOut: "give the CA's file that signed it and the host name in it,"
          + " or allow insecure connections in a closed network")
    }
    // What isn't a TLS record at all.
    if ["WRONG_VERSION_NUMBER", "HTTP_REQUEST", "INVALID_MESSAGE"].contains(where: text.contains) {
      return SignalingError(
        stage: .tls, code: .tlsFailed, detail: "the port doesn't speak TLS",
        wayOut: "use ws:// in place of wss://, or the port that has TLS")
    }
    return SignalingError(
      stage: .tls, code: .tlsFailed,
      detail: "the TLS handshake failed: \(SystemErrorText.words(error))",
      wayOut: "check that the port speaks TLS 1.2 or later, and a client certificate if it asks")
  }
}
