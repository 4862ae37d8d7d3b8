import SoraICE
import SoraMedia
import SoraTransport

/// The sockets of one connection: one on each address of the host that the settings allow, and while a call runs on those that come.
/// Confined to its loop.
final class LocalSockets {
  enum Change {
    case opened(TransportAddress)
    case closed(TransportAddress)
  }

  let sockets = UDPSocketSet()
  private(set) var addresses: [TransportAddress] = []
  private let loop: NetworkLoop
  private let settings: RTCSettings
  /// Takes what arrives; the sockets hold it while they are open.
  private weak var handler: (any DatagramHandler)?
  private var watch: InterfaceWatch?
  private var timer: LoopTimer?

  init(loop: NetworkLoop, settings: RTCSettings) {
    self.loop = loop
    self.settings = settings
  }

  /// Opens a socket on every address, once, and returns their addresses.
  ///
  /// - Throws: where there are addresses, and not one can be bound.
  func open(handler: any DatagramHandler) throws(RTCSetupError) -> [TransportAddress] {
    guard addresses.isEmpty else { return addresses }
    self.handler = handler
    let failures = sockets.open(try localAddresses(), on: loop, handler: handler)
    addresses = sockets.sockets.map(\.localAddress)
    if addresses.isEmpty, !failures.isEmpty { throw .noSocket(failures.map(\.error)) }
    return addresses
  }

  private func localAddresses() throws(RTCSetupError) -> [IPAddress] {
    guard settings.localAddresses.isEmpty else { return try settings.parsedLocalAddresses() }
    do throws(NetworkError) {
      return try NetworkLoop.hostAddresses().filter { address in
        (settings.gathersLoopback || !address.isLoopback)
          && (settings.gathersIPv6 || address.ip.isV4)
      }.map(\.ip)
    } catch {
      throw .noAddresses(error)
    }
  }

  // MARK: Changes of the host's addresses

  /// Begins to listen for changes, once. Without permission to, the addresses of the start remain.
  func follow(_ changed: @escaping (Change) -> Void) {
    guard watch == nil, settings.followsInterfaces, settings.localAddresses.isEmpty else { return }
    // An interface that comes up changes several times in a row; what counts is how it ends.
    timer = loop.makeTimer { [weak self] _ in self?.compare(changed) }
    watch = try? loop.watchInterfaces { [weak self] in
      guard let self, !addresses.isEmpty else { return }
      timer?.deadline = loop.now + .milliseconds(100)
    }
  }

  func stopFollowing() {
    watch?.cancel()
    timer?.cancel()
    timer = nil
  }

  private func compare(_ changed: (Change) -> Void) {
    guard let handler, let present = try? localAddresses() else { return }
    for address in addresses where !present.contains(address.ip) {
      addresses.removeAll { $0 == address }
      sockets.remove(address)
      changed(.closed(address))
    }
    for ip in present where !addresses.contains(where: { $0.ip == ip }) {
      // One that can't be bound yet is tried again with the next change.
      guard sockets.open([ip], on: loop, handler: handler).isEmpty,
        let base = sockets.sockets.last?.localAddress
      else { continue }
      addresses.append(base)
      changed(.opened(base))
    }
  }
}
