import Logging
import SoraSignaling
import SoraTransport

/// Carries one client's messages from its WebSocket to the loop, in order.
struct ServerSession: Sendable {
  private let connection: WebSocketConnection
  private let engine: LoopBound<ServerEngine>
  private let logger: Logger

  init(_ connection: WebSocketConnection, _ engine: LoopBound<ServerEngine>, _ logger: Logger) {
    self.connection = connection
    self.engine = engine
    self.logger = logger
  }

  func run() async {
    let loop = engine.loop
    let accepted = await loop.run { [connection, engine] in engine.value.accept(connection) }
    guard let peer = accepted else { return }
    for await event in connection.messages {
      let message: SFUMessage
      switch event {
      case .text(let text): message = SFUMessage(parsing: text)
      case .binary: message = .malformed("binary messages are for data channels")
      case .closed:
        loop.execute { [engine] in engine.value.signalingLost(peer) }
        return
      }
      if case .malformed(let detail) = message {
        logger.debug("malformed message", metadata: ["detail": "\(detail)"])
      }
      loop.execute { [engine] in engine.value.receive(message, from: peer) }
    }
    loop.execute { [engine] in engine.value.signalingLost(peer) }
  }
}
