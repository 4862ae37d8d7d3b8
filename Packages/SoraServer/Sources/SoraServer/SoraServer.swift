import Logging
import SoraClock
import SoraCluster
import SoraDTLS
public import SoraICE
import SoraRTP
import SoraSignaling
public import SoraSignalingMessages
import SoraTURNStream
import SoraTransport

/// A Sora-compatible development server: signaling, a web page and a forwarding unit for media on one port and a few
/// UDP sockets.
///
/// ```swift
/// import SoraServer
///
/// let server = try await SoraServer.start()
/// print(server.url)  // ws://127.0.0.1:43521/signaling
/// await server.shutdown()
/// ```
/// Everything here may be called from any thread.
public final class SoraServer: Sendable {
  public typealias Configuration = ServerConfiguration

  public let configuration: Configuration
  /// What clients connect to, `ws://HOST:PORT/signaling`.
  public var url: String { urls.signaling }
  /// The page, `http://HOST:PORT/`.
  public var httpURL: String { urls.pages[0] }
  /// The page by every address that reaches it, `httpURL` first. More than that one where the host is a wildcard.
  public var httpURLs: [String] { urls.pages }
  /// Whether only this machine reaches the server.
  public var isLocal: Bool { urls.isLocal }
  /// The port of signaling and the page.
  public var port: Int { urls.port }
  /// What the HTTP API's requests are posted to, `http://HOST:PORT/`; nil where it isn't open.
  public var apiURL: String? { urls.api }
  /// Where media is received.
  public let mediaAddresses: [TransportAddress]
  /// Who joins and who leaves, for one reader. Ends with `shutdown`.
  public let events: AsyncStream<SFUEvent>
  /// What offers name as TURN servers to clients that know this host by an address.
  public let turnURLs: [String]

  private let urls: ServerURLs
  private let loop: NetworkLoop
  private let engine: LoopBound<ServerEngine>
  private let signaling: SignalingServer
  private let api: SignalingServer?
  private let cluster: ServerCluster?
  private let access: ServerAccess

  /// Starts a server.
  ///
  /// - Throws: `SignalingError` where the port, the TLS files or a webhook can't be used, `NetworkError` where no UDP socket can be
  ///   opened, or none for the relay's streams, `DTLSError` where no certificate can be made, `MediaFileError` where nothing can be
  ///   written in the folder of recordings, or libavformat is missing.
  public static func start(_ configuration: Configuration = Configuration()) async throws
    -> SoraServer
  {
    if configuration.access.secretKey?.isShort == true {
      configuration.logger.warning(
        "the secret key is short: who sees a token may find it by trying",
        metadata: ["bytes": "less than \(SecretKey.safeLength)"])
    }
    for _ in 0..<8 {
      do {
        return try await open(configuration)
      } catch NetworkError.addressInUse(let address) where configuration.leavesOpen(address) {
        // The relay's port was free for UDP and isn't for TCP: others are.
      }
    }
    return try await open(configuration)
  }

  private static func open(_ configuration: Configuration) async throws -> SoraServer {
    let access = try ServerAccess(
      configuration.access, isClustered: configuration.cluster != nil, logger: configuration.logger)
    do {
      return try await open(configuration, access)
    } catch {
      await access.shutdown()
      throw error
    }
  }

  private static func open(
    _ configuration: Configuration, _ access: ServerAccess
  ) async throws -> SoraServer {
    let loop = try NetworkLoop.make()
    let certificate = try DTLSCertificate.generate()
    let addresses = try configuration.mediaAddresses ?? NetworkLoop.hostAddresses().map(\.ip)
    let (events, continuation) = AsyncStream.makeStream(
      of: SFUEvent.self, bufferingPolicy: .bufferingNewest(4096))
    let made = await loop.run { () -> Result<LoopBound<ServerEngine>, any Error> in
      Result {
        LoopBound(
          try ServerEngine(
            configuration: configuration, addresses: addresses, certificate: certificate,
            loop: loop, events: continuation, reports: access.events),
          loop: loop)
      }
    }
    do {
      let engine = try made.get()
      try await record(configuration, engine)
      // First the relay: an offer has to name all of it.
      try await listenForStreams(configuration.turn, engine)
      let signaling = try await listen(configuration, engine, access.control)
      var api: SignalingServer?
      do {
        if let port = configuration.apiPort {
          api = try await APIServer.start(
            host: configuration.apiHost, port: port,
            backend: EngineBackend(engine: engine, metrics: access.metrics),
            http: access.client, logger: configuration.logger)
        }
      } catch {
        await signaling.stop()
        throw error
      }
      let urls = ServerURLs(configuration, signaling: signaling, api: api)
      let cluster: ServerCluster?
      do {
        cluster = try await join(configuration, engine, urls)
      } catch {
        await api?.stop()
        await signaling.stop()
        throw error
      }
      let (media, turn) = await loop.run {
        (engine.value.mediaAddresses, engine.value.turn?.urls() ?? [])
      }
      return SoraServer(
        configuration, urls, loop, engine, (signaling, api, cluster), access, media, turn, events)
    } catch {
      if let engine = try? made.get() { await close(engine) }
      loop.shutdown()
      throw error
    }
  }

  private static func record(
    _ configuration: Configuration, _ engine: LoopBound<ServerEngine>
  ) async throws {
    guard let folder = configuration.recordingFolder else { return }
    let loop = engine.loop
    let recordings = try ServerRecordings(
      folder: folder, recordsEverything: configuration.recordsEverything,
      logger: configuration.logger
    ) { id in
      loop.execute { engine.value.requestKeyFrame(connectionID: id) }
    }
    if !configuration.recordsEverything {
      recordings.onChange { [weak recordings] event, started in
        guard let recordings else { return }
        loop.execute { engine.value.recordingChanged(event, started, recordings) }
      }
    }
    await loop.run { engine.value.record(with: recordings) }
  }

  /// Opens the relay's TCP side, on the addresses and ports that it has for UDP, and that of TLS.
  private static func listenForStreams(
    _ settings: Configuration.TURN?, _ engine: LoopBound<ServerEngine>
  ) async throws {
    guard let settings else { return }
    let loop = engine.loop
    for address in await loop.run({ engine.value.turn?.addresses ?? [] }) {
      var ways: [(TransportAddress, TLSOptions.Identity?)] = []
      if settings.transports.contains(.tcp) { ways.append((address, nil)) }
      if settings.transports.contains(.tls), let tls = settings.tls {
        ways.append((TransportAddress(ip: address.ip, port: settings.securePort), tls))
      }
      for (address, tls) in ways {
        let listener = try await TURNStreamListener.start(on: address, tls: tls) {
          client, connection in
          loop.execute { engine.value.turn?.accept(client, connection) }
          return { event in
            loop.execute { engine.value.turn?.receive(event, from: client) }
          }
        }
        await loop.run { engine.value.turn?.add(listener) }
      }
    }
  }

  /// What a client may leave unread of its WebSocket: four of the largest messages.
  private static let unsentBytes = 4 * JSONValue.maximumSize

  private static func listen(
    _ configuration: Configuration, _ engine: LoopBound<ServerEngine>, _ access: AccessControl
  ) async throws -> SignalingServer {
    let whip = WHIPService(
      engine, access, isClustered: configuration.cluster != nil, configuration.logger)
    return try await SignalingServer.start(
      host: configuration.host, port: configuration.port,
      configuration: SignalingServer.Configuration(
        tls: configuration.tls, maximumUnsentBytes: unsentBytes, maximumPendingSockets: 2500,
        logger: configuration.logger),
      http: { await whip.respond(to: $0) ?? ServerPage.respond(to: $0) },
      onConnection: { connection in
        Task {
          await ServerSession(
            connection, engine, access, isClustered: configuration.cluster != nil,
            configuration.logger
          ).run()
        }
      })
  }

  private static func join(
    _ configuration: Configuration, _ engine: LoopBound<ServerEngine>, _ urls: ServerURLs
  ) async throws -> ServerCluster? {
    guard let settings = configuration.cluster else { return nil }
    let cluster = try await ServerCluster(
      settings, configuration, url: urls.signaling, apiURL: urls.api, engine)
    await engine.loop.run { engine.value.cluster = cluster.member }
    return cluster
  }

  private init(
    _ configuration: Configuration, _ urls: ServerURLs, _ loop: NetworkLoop,
    _ engine: LoopBound<ServerEngine>,
    _ servers: (signaling: SignalingServer, api: SignalingServer?, cluster: ServerCluster?),
    _ access: ServerAccess,
    _ media: [TransportAddress], _ turn: [String],
    _ events: AsyncStream<SFUEvent>
  ) {
    self.configuration = configuration
    self.urls = urls
    self.loop = loop
    self.engine = engine
    self.access = access
    signaling = servers.signaling
    api = servers.api
    cluster = servers.cluster
    self.events = events
    mediaAddresses = media
    turnURLs = turn
  }

  /// Reads the certificate and key of signaling, the page and `turns:` again, for clients that come from now on. Connections that are open
  /// go on.
  ///
  /// - Throws: `invalidConfiguration` with the file at fault; what was read before stays in use.
  public func reloadTLS() async throws(SignalingError) {
    try signaling.reloadTLS()
    let listeners = await loop.run { [engine] in engine.value.turn?.listeners ?? [] }
    for listener in listeners { try listener.reloadTLS() }
  }

  /// Takes no further connection and waits until all have gone, for `configuration.drain.limit` at most. `shutdown` must follow: it
  /// ends those that are left, and finishes recordings.
  public func drain() async {
    // First the others: who is sent to them isn't to be sent back.
    await cluster?.member.drain()
    let waiting = await loop.run { [engine, configuration, cluster] in
      var settings = configuration.drain
      settings.redirectURL = settings.redirectURL ?? cluster?.member.otherURL
      return engine.value.drain(settings)
    }
    for await _ in waiting {}
  }

  /// Ends all connections, closes all sockets, and waits for it.
  public func shutdown() async {
    // Before the connections: who comes again at once is to find another place.
    await cluster?.shutdown()
    await api?.stop()
    await Self.close(engine)
    await signaling.stop()
    await access.shutdown()
    loop.shutdown()
  }

  private static func close(_ engine: LoopBound<ServerEngine>) async {
    let (listeners, recordings) = await engine.loop.run {
      engine.value.shutdown()
      return (engine.value.turn?.shutdown() ?? [], engine.value.recordings)
    }
    for listener in listeners { await listener.stop() }
    await recordings?.finish()
  }

  /// The connections as they are now.
  public var connections: [SFUConnectionStatus] {
    get async { await loop.run { [engine] in engine.value.core.status } }
  }

  /// A name and password that the server's TURN server takes, for whoever doesn't join a channel; nil without one.
  public func turnCredentials(for username: String) async -> LongTermCredentials? {
    await loop.run { [engine] in engine.value.turn?.credentials(for: username) }
  }

  /// What clients make the server hold now.
  package var holdings: SFUHoldings {
    get async { await loop.run { [engine] in engine.value.core.holdings } }
  }

  /// Whether anything waits for its time.
  package var hasDeadlines: Bool {
    get async { await loop.run { [engine] in engine.value.core.nextDeadline != nil } }
  }

  /// The names of the channels that have connections.
  public var channels: [String] {
    get async { await loop.run { [engine] in engine.value.core.channelIDs } }
  }

  /// Datagrams that belonged to no connection, by reason.
  public var dropped: SFUDropped {
    get async { await loop.run { [engine] in engine.value.core.dropped } }
  }

  /// Sends data to connections of a channel: to all, to those of one client, or to one.
  ///
  /// - Returns: how many it went to.
  @discardableResult
  public func push(
    _ data: JSONValue, channelID: String, clientID: String? = nil, connectionID: String? = nil
  ) async -> Int {
    let selection = SFUSelection(
      channelID: channelID, clientID: clientID, connectionID: connectionID)
    return await loop.run { [engine] in engine.value.push(data, to: selection) }
  }

  /// Ends one connection of a channel, or all, as Sora's API does (1000, DISCONNECTED-API).
  ///
  /// - Returns: how many there were.
  @discardableResult
  public func disconnect(channelID: String, connectionID: String? = nil) async -> Int {
    let selection = SFUSelection(channelID: channelID, connectionID: connectionID)
    return await loop.run { [engine] in engine.value.disconnect(selection) }
  }
}

/// What the HTTP API works on: the engine, on its loop.
private struct EngineBackend: APIBackend {
  let engine: LoopBound<ServerEngine>
  let metrics: AccessMetrics

  private func run<Value: Sendable>(
    _ body: @escaping @Sendable (ServerEngine) -> Value
  ) async -> Value {
    await engine.loop.run { [engine] in body(engine.value) }
  }

  func recordings() async -> ServerRecordings? { await run { $0.recordings } }

  func sessionID(channelID: String) async -> String? {
    await run { $0.core.sessionID(channelID: channelID) }
  }

  func isDraining() async -> Bool { await run { $0.core.isDraining } }

  func makeIdentifier() async -> String { await run { $0.core.makeIdentifier() } }

  func status(of selection: SFUSelection?) async -> [SFUConnectionStatus] {
    await run { engine in selection.map { engine.core.status(of: $0) } ?? engine.core.status }
  }

  func push(_ data: JSONValue, to selection: SFUSelection) async -> Int {
    await run { $0.push(data, to: selection) }
  }

  func disconnect(_ selection: SFUSelection, reason: String?) async -> Int {
    await run { $0.disconnect(selection, reason: reason) }
  }

  func requestKeyFrame(connectionID: String) async {
    await run { $0.requestKeyFrame(connectionID: connectionID) }
  }

  func sessions() async -> [SFUSession] { await run { $0.core.sessions } }

  func endSession(channelID: String, sessionID: String?) async -> String? {
    await run { $0.endSession(channelID: channelID, sessionID: sessionID) }
  }

  func clientStatistics(of selection: SFUSelection?) async -> [SFUClientStatistics] {
    await run { $0.core.clientStatistics(of: selection) }
  }

  func metrics() async -> ServerMetrics {
    await run { [metrics] in
      var all = $0.metrics(metrics)
      all.cluster = $0.cluster?.status
      return all
    }
  }

  func cluster() async -> Cluster? { await run { $0.cluster } }

  func change(
    _ change: SFUFilterChange, channelID: String, connectionID: String?
  ) async -> SFUFilterOutcome {
    await run { $0.change(change, channelID: channelID, connectionID: connectionID) }
  }

  func filters(channelID: String) async -> [SFUFilterStatus]? {
    await run { $0.core.filters(channelID: channelID) }
  }

  func change(_ change: SFUSpotlightChange, channelID: String) async -> SFUSpotlightOutcome {
    await run { $0.change(change, channelID: channelID) }
  }

  func requestSimulcastRid(
    _ rid: SignalingRid, channelID: String, receiver: String, sender: String?
  ) async -> Bool {
    await run {
      $0.requestSimulcastRid(rid, channelID: channelID, receiver: receiver, sender: sender)
    }
  }
}
