import Foundation
import Logging
import SoraClock
import SoraCommandSupport
import SoraMedia
@_spi(Command) import SoraSDK
import SoraSignaling

/// What `sora doctor` looks at along the way to a server: each step, until one fails.
struct ServerChecks {
  let url: URL
  let tls: TLSOptions
  /// Whether a public key is pinned; nil where any will do.
  let acceptsKey: (@Sendable ([UInt8]) -> Bool)?
  let proxy: ProxyOptions?
  let channel: String
  let metadata: JSONValue?

  private var isSecure: Bool { url.scheme?.lowercased() == "wss" }
  private var host: String { url.host ?? "" }
  private var port: Int { url.port ?? (isSecure ? 443 : 80) }

  /// - Returns: whether the server gave an offer, so that a call makes sense.
  func run(_ tell: (Finding) -> Void) async -> Bool {
    let start = SystemClock.now
    do {
      let connection = try await WebSocketClient.connect(url: url.absoluteString, options: options)
      let time = milliseconds(since: start)
      connection.close()
      tellReached(tell)
      if isSecure { await tellCertificate(isTrusted: tls.insecure ? nil : true, tell) }
      tell(.ok("websocket", "open after \(time) ms"))
    } catch {
      await tellHow(error, tell)
      return false
    }
    return await offer(tell)
  }

  private var options: WebSocketOptions {
    var logger = Logging.Logger(label: "sora.doctor")
    logger.logLevel = .critical
    return WebSocketOptions(
      tls: tls, acceptsKey: acceptsKey, proxy: proxy, timeout: .seconds(5), logger: logger)
  }

  private func milliseconds(since start: Instant) -> Int {
    Int((SystemClock.now - start).inMilliseconds.rounded())
  }

  /// The server's port was reached: by a proxy, which looks up its name, or from here.
  private func tellReached(_ tell: (Finding) -> Void) {
    if let proxy {
      return tell(.ok("proxy", "\(proxy.address) opens the way to \(host) port \(port)"))
    }
    tell(.ok("name", "\(host) is known"))
    tell(.ok("tcp", "port \(port) answers"))
  }

  /// What came before the stage that failed was well.
  private func tellHow(_ error: SignalingError, _ tell: (Finding) -> Void) async {
    if error.stage == .connect { tell(.ok("name", "\(host) is known")) }
    if error.stage > .proxy, error.stage < .signaling { tellReached(tell) }
    switch error.stage {
    case .proxy:
      tell(.fail("proxy", "\(proxy?.address ?? ""): \(error.detail)", error.wayOut))
    case .resolve: tell(.fail("name", error.detail, error.wayOut))
    case .connect: tell(.fail("tcp", error.detail, error.wayOut))
    case .tls where error.code == .certificateNotVerified && error.field == "acceptsKey":
      await tellCertificate(isTrusted: tls.insecure ? nil : true, tell)
      tell(
        .fail(
          "pin", "the server's key isn't one that --pin names",
          "ask who runs the server whether the key above is theirs, and give it with --pin then"))
    case .tls where error.code == .certificateNotVerified:
      await tellCertificate(isTrusted: false, tell)
    case .tls: tell(.fail("tls", error.detail, error.wayOut))
    case .upgrade:
      if isSecure { await tellCertificate(isTrusted: tls.insecure ? nil : true, tell) }
      tell(.fail("websocket", error.detail, error.wayOut))
    default: tell(.fail("url", error.detail, error.wayOut))
    }
  }

  private func tellCertificate(isTrusted: Bool?, _ tell: (Finding) -> Void) async {
    do {
      let found = try await ServerCertificate.fetch(url: url.absoluteString, proxy: proxy)
      tell(
        .certificate(
          names: found.names, notBefore: found.notBefore, notAfter: found.notAfter,
          now: SystemClock.realtimeNanoseconds / 1_000_000_000, isTrusted: isTrusted, host: host))
      if let hash = found.publicKey.flatMap(TLSSettings.signalingKeyHash) {
        tell(.ok("key", ServerAccessOptions.pinPrefix + Data(hash).base64EncodedString()))
      }
    } catch {
      tell(.fail("certificate", error.detail, error.wayOut))
    }
  }

  private func offer(_ tell: (Finding) -> Void) async -> Bool {
    let start = SystemClock.now
    var connect = ConnectMessage(role: .recvonly, channelID: channel)
    connect.metadata = metadata
    var configuration = SignalingClient.Configuration(
      urls: [url.absoluteString], connect: connect, webSocket: options, timeout: .seconds(10))
    configuration.logger = options.logger
    let client = SignalingClient(configuration: configuration)
    do {
      let offer = try await client.connect()
      let time = milliseconds(since: start)
      await client.disconnect()
      tell(.ok("offer", "after \(time) ms" + (offer.version.map { ", from Sora \($0)" } ?? "")))
      tell(candidates(offer))
      return true
    } catch {
      tell(.fail("offer", error.detail, error.wayOut))
      return false
    }
  }

  /// Where the server says that it takes media.
  private func candidates(_ offer: OfferMessage) -> Finding {
    var addresses: [String] = []
    for line in offer.sdp.split(whereSeparator: \.isNewline) where line.hasPrefix("a=candidate:") {
      // foundation component transport priority address port (RFC 8839 §5.1)
      let fields = line.split(separator: " ")
      guard fields.count > 5 else { continue }
      let address = "\(fields[2].lowercased()) \(fields[4]) port \(fields[5])"
      if !addresses.contains(address) { addresses.append(address) }
    }
    let relays = offer.configuration?.iceServers.flatMap(\.urls) ?? []
    guard !addresses.isEmpty || !relays.isEmpty else {
      return .warn(
        "candidates", "the offer names no address for media",
        "they may come later; if the call below fails, check the server's media addresses")
    }
    return .ok(
      "candidates",
      (addresses.prefix(4) + (addresses.count > 4 ? ["…"] : []) + relays).joined(separator: ", "))
  }
}

extension ProxyOptions {
  /// The SDK's, as signaling takes it.
  init(_ proxy: Proxy) {
    self.init(
      scheme: proxy.scheme == .http ? .http : .socks5, host: proxy.host, port: proxy.port,
      agent: proxy.agent, username: proxy.username, password: proxy.password)
  }

  /// Where it listens, for people.
  fileprivate var address: String { "\(host) port \(port)" }
}
