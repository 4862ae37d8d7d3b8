import Logging
import SoraTransport
import SoraWire

extension UDPSocketSet {
  /// Opens a socket on each address, and tells of those without one: one that went away between listing and binding must not stop the
  /// server.
  ///
  /// - Parameters:
  ///   - purpose: what they are for, as the log has it.
  ///   - logger: is told.
  /// - Throws: where none can be opened.
  func open(
    _ addresses: [IPAddress], port: UInt16, sharesPort: Bool = false, for purpose: String,
    on loop: NetworkLoop, handler: any DatagramHandler, logger: Logger
  ) throws(NetworkError) {
    let failures = open(
      addresses, port: port, sharesPort: sharesPort, on: loop, handler: handler)
    for (ip, error) in failures {
      logger.warning("no \(purpose) on an address", metadata: ["ip": "\(ip)", "error": "\(error)"])
    }
    if sockets.isEmpty, let failure = failures.last { throw failure.error }
  }
}
