import Logging
import SoraCluster
import SoraSignaling
import SoraSignalingMessages
import SoraTransport

/// Carries one client's messages from its WebSocket to the loop, in order.
struct ServerSession: Sendable {
  private let connection: WebSocketConnection
  private let engine: LoopBound<ServerEngine>
  private let access: AccessControl
  private let logger: Logger
  /// Whether channels may be on other servers.
  private let isClustered: Bool

  init(
    _ connection: WebSocketConnection, _ engine: LoopBound<ServerEngine>, _ access: AccessControl,
    isClustered: Bool, _ logger: Logger
  ) {
    self.isClustered = isClustered
    self.connection = connection
    self.engine = engine
    self.access = access
    self.logger = logger
  }

  func run() async {
    let loop = engine.loop
    let accepted = await loop.run { [connection, engine] in engine.value.accept(connection) }
    guard let peer = accepted else { return }
    var logged: Logger.Metadata = ["peer": "\(peer.value)"]
    for await event in connection.messages {
      let message: SFUMessage
      var ignored: [String] = []
      switch event {
      case .text(let text): (message, ignored) = SFUMessage.read(text)
      case .binary: message = .malformed("binary messages are for data channels")
      case .closed:
        loop.execute { [engine] in engine.value.signalingLost(peer) }
        return
      }
      switch message {
      case .malformed(let detail):
        logger.debug(
          "malformed message", metadata: logged.merging(["detail": "\(detail)"]) { $1 })
      case .connect(let connect) where !access.isOpen || isClustered:
        await decide(about: connect, of: peer)
        await note(connect, ignored, of: peer, &logged)
        continue
      default: break
      }
      // Waited for, so that messages don't pile up on the loop: what isn't read yet is bounded, there they weren't.
      await loop.run { [engine] in engine.value.receive(message, from: peer) }
      if case .connect(let connect) = message {
        await note(connect, ignored, of: peer, &logged)
      } else if !ignored.isEmpty {
        await loop.run { [engine, ignored] in engine.value.ignored(ignored, from: peer) }
      }
    }
    loop.execute { [engine] in engine.value.signalingLost(peer) }
  }

  /// A `connect` was dealt with: from now on the client has a connection's name, unless it was turned away.
  private func note(
    _ connect: ConnectMessage, _ ignored: [String], of peer: SFUPeerID,
    _ logged: inout Logger.Metadata
  ) async {
    let connectionID = await engine.loop.run { [engine] in
      engine.value.ignored(ignored, from: peer)
      return engine.value.connectionID(of: peer)
    }
    if let connectionID { logged["connection_id"] = "\(connectionID)" }
    logger.debug(
      "connect", metadata: logged.merging(["message": "\(Secrets.logged(connect))"]) { $1 })
  }

  /// Has somebody decide about a client. What it sends meanwhile waits in the WebSocket, which isn't read beyond a few megabytes.
  private func decide(about connect: ConnectMessage, of peer: SFUPeerID) async {
    let loop = engine.loop
    let asked = await loop.run { [engine] in engine.value.examine(connect, of: peer) }
    guard let asked else { return }
    let decision = await ask(asked)
    if case .failure(let refusal) = decision {
      logger.notice(
        "not let in",
        metadata: [
          "channel_id": "\(connect.channelID)", "connection_id": "\(asked.connectionID)",
          "reason": "\(refusal.detail ?? refusal.reason)",
        ])
    }
    // Who has gone meanwhile needs no connection.
    guard connection.isOpen else { return }
    if isClustered, case .success(let grant) = decision {
      return await place(connect, grant, of: peer)
    }
    loop.execute { [engine] in
      switch decision {
      case .success(let grant): engine.value.admit(connect, grant, of: peer)
      case .failure(let refusal): engine.value.refuse(peer, reason: refusal.reason)
      }
    }
  }

  private func ask(_ asked: SFUApplicant) async -> Result<SFUGrant, AccessRefusal> {
    // Nobody is asked: it gets what it asks for.
    guard !access.isOpen else { return .success(SFUGrant(connectionID: asked.connectionID)) }
    return await access.decide(
      asked,
      AccessOrigin(
        address: connection.remoteIP,
        forwardedFor: connection.request?.headers["x-forwarded-for"]))
  }

  /// Has the cluster say where a client goes that was let in.
  private func place(
    _ connect: ConnectMessage, _ grant: SFUGrant, of peer: SFUPeerID
  ) async {
    let loop = engine.loop
    let cluster = await loop.run { [engine] in engine.value.cluster }
    let decision = await cluster?.place(connect.channelID) ?? .unavailable
    // Of one that has gone meanwhile the core knows nothing: then the place is free again.
    loop.execute { [engine] in engine.value.place(peer, connect, grant, decision) }
  }
}
