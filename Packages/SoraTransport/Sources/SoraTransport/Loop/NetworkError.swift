import CSoraNetwork
public import SoraICE

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Why a loop or a socket couldn't be made.
public enum NetworkError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A system call failed: its name and its `errno`.
  case system(call: String, code: Int32)
  /// The address isn't one of this host's, or its interface is down.
  case addressNotAvailable(TransportAddress)
  /// Another socket has this address and port.
  case addressInUse(TransportAddress)
  /// The loop has been shut down.
  case closed

  public var description: String {
    switch self {
    case .system(let call, let code):
      "\(call) failed: \(unsafe String(cString: strerror(code))) (errno \(code))"
    case .addressNotAvailable(let address):
      "\(address) is not an address of this host: choose one that `hostAddresses()` lists"
    case .addressInUse(let address):
      "\(address) is in use: choose another port, or 0 for any"
    case .closed: "the network loop has been shut down"
    }
  }

  /// The error for a socket that could not be bound to an address.
  ///
  /// - Parameters:
  ///   - address: what it was to be bound to.
  ///   - code: the `errno` of `bind`.
  ///   - kind: the protocol, as the description names it.
  public static func binding(
    _ address: TransportAddress, code: Int32, kind: String = "UDP"
  ) -> NetworkError {
    switch code {
    case EADDRNOTAVAIL, EAFNOSUPPORT, ENODEV: .addressNotAvailable(address)
    case EADDRINUSE: .addressInUse(address)
    default: .system(call: "opening a \(kind) socket on \(address)", code: code)
    }
  }
}
