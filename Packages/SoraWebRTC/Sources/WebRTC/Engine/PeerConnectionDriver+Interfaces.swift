import SoraICE
import SoraMedia
import SoraTransport

/// Follows the host's addresses while a call runs.
extension PeerConnectionDriver {
  /// Begins to listen for changes, once. Without permission to, the addresses of the start remain.
  func followInterfaces() {
    guard interfaceWatch == nil, settings.followsInterfaces, settings.localAddresses.isEmpty else {
      return
    }
    // An interface that comes up changes several times in a row; what counts is how it ends.
    interfaceTimer = loop.makeTimer { [weak self] _ in self?.compareInterfaces() }
    interfaceWatch = try? loop.watchInterfaces { [weak self] in
      guard let self, !isClosed, !addresses.isEmpty else { return }
      interfaceTimer?.deadline = loop.now + .milliseconds(100)
    }
  }

  private func compareInterfaces() {
    guard !isClosed, let present = try? localAddresses() else { return }
    for address in addresses where !present.contains(address.ip) {
      addresses.removeAll { $0 == address }
      sockets.remove(address)
      perform { core, now in core.transport.removeBase(address, at: now) }
    }
    for ip in present where !addresses.contains(where: { $0.ip == ip }) {
      // One that can't be bound yet is tried again with the next change.
      guard let base = try? open(ip) else { continue }
      perform { core, now in core.transport.addBase(base, at: now) }
    }
  }
}
