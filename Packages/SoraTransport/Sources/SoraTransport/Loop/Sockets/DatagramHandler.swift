public import SoraICE
public import SoraMedia

/// Receives what arrives on a loop's sockets. Called only on the loop's thread.
///
/// A socket holds its handler until it is closed. One handler may serve several sockets.
public protocol DatagramHandler: AnyObject {
  /// A datagram has arrived. `bytes` is lent for the duration of the call and may be written to (to decrypt in
  /// place); it may be empty. `now` is the same for everything that arrives in one turn of the loop. What its IP
  /// header's ECN bits were, `socket.receivedECN` says.
  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant)

  /// Everything that could be read in this turn has been delivered: the time to do work once a batch, such as
  /// sending feedback. Called once a turn for each handler that received something.
  func batchEnded(at now: Instant)
}

extension DatagramHandler {
  public func batchEnded(at now: Instant) {}
}

/// A handler with a mark that tells whether it is already listed for `batchEnded` in this turn, so that finding
/// out costs no look-up a packet. One a handler, however many sockets it has.
final class HandlerEntry {
  let handler: any DatagramHandler
  var sockets = 0
  var isListed = false

  init(_ handler: any DatagramHandler) { self.handler = handler }
}
