import Foundation
import NIOCore

/// Asks an HTTP proxy for a tunnel (RFC 9110 §9.3.6) and then makes place for what goes through it.
final class ProxyHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let authority: String
  private let userAgent: String
  private let fail: (any Error) -> Void
  private let proxy: ProxyOptions
  private let next: (any Channel) throws -> Void
  private var received: [UInt8] = []
  private var isDone = false

  /// - Parameters:
  ///   - authority: host and port that the proxy shall connect to.
  ///   - userAgent: the `User-Agent` that it sees.
  ///   - proxy: its credentials.
  ///   - fail: told of a refusal or a broken connection, with a `SignalingError` where it is the proxy's.
  ///   - next: called once the tunnel is there, to add the handlers of what goes through it.
  init(
    authority: String, userAgent: String, proxy: ProxyOptions, fail: @escaping (any Error) -> Void,
    next: @escaping (any Channel) throws -> Void
  ) {
    self.authority = authority
    self.userAgent = userAgent
    self.proxy = proxy
    self.fail = fail
    self.next = next
  }

  func handlerAdded(context: ChannelHandlerContext) {
    var request = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
    request += "User-Agent: \(proxy.agent ?? userAgent)\r\n"
    if let username = proxy.username {
      let credentials = Data("\(username):\(proxy.password ?? "")".utf8).base64EncodedString()
      request += "Proxy-Authorization: Basic \(credentials)\r\n"
    }
    request += "\r\n"
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isDone else { return context.fireChannelRead(data) }
    received.append(contentsOf: unwrapInboundIn(data).readableBytesView)
    do {
      guard let head = try HTTPResponseHead.parse(received) else { return }
      isDone = true
      guard (200...299).contains(head.status) else { return fail(refusal(head.status)) }
      try next(context.channel)
      let rest = Array(received[head.size...])
      received = []
      if !rest.isEmpty { context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest))) }
      context.pipeline.syncOperations.removeHandler(self, promise: nil)
    } catch let error as HTTPResponseHead.Malformed {
      isDone = true
      fail(
        SignalingError(
          stage: .proxy, code: .invalidHandshake, field: "proxy", detail: error.detail,
          wayOut: "check that host and port are those of an HTTP proxy"))
    } catch {
      isDone = true
      fail(error)
    }
  }

  private func refusal(_ status: Int) -> SignalingError {
    guard status == 407 else {
      return SignalingError(
        stage: .proxy, code: .proxyRefused(status: status), field: "proxy",
        detail: "the proxy answered with status \(status)",
        wayOut: "allow \(authority) in the proxy, or connect without it")
    }
    return SignalingError(
      stage: .proxy, code: .proxyAuthenticationRequired, field: "proxy.username",
      detail: proxy.username == nil
        ? "the proxy asks for a user name" : "the proxy refuses the user name or password",
      wayOut: "set the user name and the password of the proxy (Basic)")
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !isDone { fail(ConnectErrors.ended(.proxy)) }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error) }

  typealias InboundOut = ByteBuffer
}
