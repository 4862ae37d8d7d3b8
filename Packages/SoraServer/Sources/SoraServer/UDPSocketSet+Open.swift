import Logging
import SoraICE
import SoraTransport

extension UDPSocketSet {
  /// Opens a socket on each address.
  ///
  /// - Parameters:
  ///   - port: on every address; 0 takes free ones.
  ///   - sharesPort: whether a free port that was taken for the first address serves for the others too, where it can.
  ///   - purpose: what they are for, as the log has it.
  ///   - loop: what they are served by.
  ///   - handler: is handed what arrives.
  ///   - logger: is told of addresses without one.
  /// - Throws: where none can be opened.
  func open(
    _ addresses: [IPAddress], port: UInt16, sharesPort: Bool = false, for purpose: String,
    on loop: NetworkLoop, handler: any DatagramHandler, logger: Logger
  ) throws(NetworkError) {
    var failure: NetworkError?
    for ip in addresses {
      do throws(NetworkError) {
        let wanted = port == 0 && sharesPort ? sockets.first?.localAddress.port ?? 0 : port
        insert(try loop.openUDP(TransportAddress(ip: ip, port: wanted), handler: handler))
      } catch {
        // One address that went away between listing and binding must not stop the server.
        logger.warning(
          "no \(purpose) on an address", metadata: ["ip": "\(ip)", "error": "\(error)"])
        failure = error
      }
    }
    if sockets.isEmpty, let failure { throw failure }
  }
}
