public import SoraDTLS
public import SoraICE
public import SoraTransport

/// Why a peer connection can't be made.
public enum RTCPeerConnectionError: Error, Sendable, CustomStringConvertible {
  /// A STUN or TURN server of the configuration can't be used.
  case unusableServer(ICEError)
  /// The cryptographic library doesn't start, or makes no certificate.
  case noCryptography(DTLSError)
  /// The system gives no thread or no descriptor for the network loop.
  case noNetworkLoop(NetworkError)

  public var description: String {
    switch self {
    case .unusableServer(let error): "the ICE servers can't be used: \(error)"
    case .noCryptography(let error):
      "there is no cryptography to secure a connection with: \(error); check the installation of OpenSSL"
    case .noNetworkLoop(let error):
      "the system gives no network loop: \(error); check the limits of open files and threads"
    }
  }
}
