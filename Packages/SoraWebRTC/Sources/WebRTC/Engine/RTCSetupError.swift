public import SoraDTLS
public import SoraICE
public import SoraTransport

/// Why a connection couldn't be made, or not reach the network. Each names its stage, what failed and the way out. Not
/// libwebrtc's.
public enum RTCSetupError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The library behind DTLS doesn't start.
  case noCryptography(DTLSError)
  /// No certificate could be made.
  case noCertificate(DTLSError)
  /// The system gives no thread, or no descriptors, to drive the connection with.
  case noNetworkLoop(NetworkError)
  /// A STUN or TURN server of the configuration can't be used.
  case unusableServer(ICEError)
  /// A text of `RTCSettings.localAddresses` is no IP address.
  case malformedLocalAddress(String)
  /// The addresses of this host couldn't be listed.
  case noAddresses(NetworkError)
  /// Not one socket could be opened: the addresses that were tried, with what became of each.
  case noSocket([NetworkError])

  public var description: String {
    switch self {
    case .noCryptography(let error):
      "cryptography: \(error); check the installation of OpenSSL (libssl3, and what OPENSSL_CONF names)"
    case .noCertificate(let error):
      "certificate: \(error); check the installation of OpenSSL (libssl3, and what OPENSSL_CONF names)"
    case .noNetworkLoop(let error):
      "network loop: \(error); check the limits of open files and threads (ulimit -n, ulimit -u)"
    case .unusableServer(let error): "ICE servers: \(error)"
    case .malformedLocalAddress(let text):
      "sockets: \"\(text)\" in localAddresses is no IP address; write one such as 192.0.2.1 or 2001:db8::1"
    case .noAddresses(let error):
      "sockets: the addresses of this host can't be listed: \(error); name some in localAddresses"
    case .noSocket(let failures):
      "sockets: none could be opened: \(failures.map(\.description).joined(separator: "; "));"
        + " check localAddresses and the limit of open files (ulimit -n)"
    }
  }
}
