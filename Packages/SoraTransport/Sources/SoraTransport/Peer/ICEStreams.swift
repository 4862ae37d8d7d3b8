public import SoraICE

/// Connections to TURN servers, by number: what a driver gives a transport beside its datagrams. Confined to the loop.
///
/// For each stream the driver calls `streamOpened`, `streamReceived` and, at its end or where it can't be opened, `streamEnded`.
public protocol ICEStreamSink: AnyObject {
  /// Opens a connection to a server's host and port, with TLS where the scheme says so.
  func open(_ stream: Int, to server: ICEServer)
  /// Lends memory for the next bytes of a stream. Nothing is sent where `write` returns 0.
  func send(_ stream: Int, capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int)
  /// Closes a stream once what was sent has left; no call about it comes any more.
  func close(_ stream: Int)
}

/// What happens on a connection that an `ICEStreamConnector` opened.
public enum ICEStreamEvent: Sendable {
  case opened
  case received([UInt8])
  /// The last event: it couldn't be opened, or has ended.
  case ended(reason: String)
}

/// A connection to a TURN server. Safe from any thread.
public protocol ICEStreamConnection: Sendable {
  /// Queues bytes; those sent before `opened` are dropped.
  func send(_ bytes: [UInt8])
  /// Closes once what was queued has left.
  func close()
}

/// Opens connections to TURN servers, over TCP or TLS, and through a proxy where it knows one.
///
/// The seam behind which another library does what isn't hot: `SoraTURNStream` has one over SwiftNIO.
public protocol ICEStreamConnector: Sendable {
  /// Begins to connect, and returns at once.
  ///
  /// - Parameters:
  ///   - server: the TURN server to connect to.
  ///   - events: called in order, on any thread, never from within `open`.
  func open(_ server: ICEServer, events: @escaping @Sendable (ICEStreamEvent) -> Void)
    -> any ICEStreamConnection
}
