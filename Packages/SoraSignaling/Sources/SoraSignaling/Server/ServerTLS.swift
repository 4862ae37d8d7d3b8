public import NIOSSL
import Synchronization

/// The certificate and key of a server, which can be read anew while it runs. May be used from any thread.
public final class ServerTLS: Sendable {
  /// The files.
  public let identity: TLSOptions.Identity
  private let current: Mutex<NIOSSLContext>

  /// Reads the files.
  ///
  /// - Throws: `invalidConfiguration` with the file at fault.
  public init(_ identity: TLSOptions.Identity) throws(SignalingError) {
    self.identity = identity
    current = Mutex(try TLSContexts.server(identity))
  }

  /// What the next connection uses.
  public var context: NIOSSLContext { current.withLock { $0 } }

  /// Reads the files again, for connections that come from now on. Those that are open keep what they have.
  ///
  /// - Throws: `invalidConfiguration` with the file at fault; what was read before stays in use.
  public func reload() throws(SignalingError) {
    let context = try TLSContexts.server(identity)
    current.withLock { $0 = context }
  }
}
