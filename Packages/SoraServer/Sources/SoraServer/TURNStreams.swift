package import SoraICE
package import SoraMedia
import SoraTURNStream
package import SoraTransport
import SoraWire

/// The TCP and TLS connections of a TURN server's clients. One without an allocation is waited for, from before its TLS handshake
/// on, and again when its allocation has ended: nobody holds a place without use.
package struct TURNStreams {
  package typealias Client = TURNServer.Client

  /// How many there may be.
  package struct Limits: Sendable {
    package var total = 1024
    /// Without an allocation, of one client's network.
    package var waitingOfNetwork = 256
    /// How long one may be without an allocation.
    package var patience = Duration.seconds(10)

    package init() {}
  }

  private struct Stream {
    let connection: any ICEStreamConnection
    var deframer = TURNStreamDeframer()
    var relays = 0
    /// When it has to have an allocation; not looked at where it has one.
    var allocatesBy: Instant
  }

  private let limits: Limits
  private var streams: [Client: Stream] = [:]
  /// Those without an allocation, in the order in which they are late.
  private var waiting: [Client] = []
  private var waitingCounts = NetworkCounts()

  package init(_ limits: Limits) { self.limits = limits }

  package var count: Int { streams.count }

  package func connection(of client: Client) -> (any ICEStreamConnection)? {
    streams[client]?.connection
  }

  /// Who has to go for a new one, if anybody.
  package enum Room: Equatable {
    case free
    case takes(Client)
    case none
  }

  /// Whether there is a place for one more. Where there is none, one without an allocation may have to go, of another network that
  /// has more of those.
  package func room(for client: Client) -> Room {
    let network = ClientNetwork(client.remote.ip)
    guard waitingCounts[network] < limits.waitingOfNetwork else { return .none }
    guard streams.count >= limits.total else { return .free }
    let candidates = waiting.map { ($0, Optional(ClientNetwork($0.remote.ip))) }
    return ClientNetwork.leaver(of: candidates, for: network).map { .takes($0) } ?? .none
  }

  package mutating func add(
    _ client: Client, _ connection: any ICEStreamConnection, at now: Instant
  ) {
    streams[client] = Stream(connection: connection, allocatesBy: now)
    wait(for: client, at: now)
  }

  /// Forgets a stream.
  ///
  /// - Returns: its connection, which is left open.
  package mutating func remove(_ client: Client) -> (any ICEStreamConnection)? {
    guard let stream = streams[client] else { return nil }
    if stream.relays == 0 { stopWaiting(for: client) }
    streams[client] = nil
    return stream.connection
  }

  /// Forgets all streams and closes them.
  package mutating func closeAll() {
    for stream in streams.values { stream.connection.close() }
    self = TURNStreams(limits)
  }

  // MARK: Allocations

  /// A relay was opened for a client, which may be none of these.
  package mutating func openedRelay(for client: Client) {
    guard let stream = streams[client] else { return }
    if stream.relays == 0 { stopWaiting(for: client) }
    streams[client]?.relays += 1
  }

  /// A relay of a client's was closed: without another, it is waited for anew.
  package mutating func closedRelay(of client: Client, at now: Instant) {
    guard let stream = streams[client], stream.relays > 0 else { return }
    streams[client]?.relays -= 1
    if stream.relays == 1 { wait(for: client, at: now) }
  }

  /// When the first of those that are waited for is late.
  package var nextDeadline: Instant? { waiting.first.flatMap { streams[$0]?.allocatesBy } }

  /// The first that is late; nil where none is.
  package func late(at now: Instant) -> Client? {
    guard let deadline = nextDeadline, deadline <= now else { return nil }
    return waiting.first
  }

  private mutating func wait(for client: Client, at now: Instant) {
    streams[client]?.allocatesBy = now + limits.patience
    waiting.append(client)
    waitingCounts.add(ClientNetwork(client.remote.ip))
  }

  private mutating func stopWaiting(for client: Client) {
    waiting.removeAll { $0 == client }
    waitingCounts.remove(ClientNetwork(client.remote.ip))
  }

  // MARK: Bytes

  /// Takes the deframer of a stream out, whose buffer then has one owner and is written in place.
  mutating func takeDeframer(of client: Client) -> TURNStreamDeframer? {
    let deframer = streams[client]?.deframer
    streams[client]?.deframer = TURNStreamDeframer()
    return deframer
  }

  mutating func put(_ deframer: TURNStreamDeframer, of client: Client) {
    streams[client]?.deframer = deframer
  }
}
