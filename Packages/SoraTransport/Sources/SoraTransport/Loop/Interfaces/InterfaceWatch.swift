import CSoraNetwork

/// Calls back when an address or an interface of the host changes. Made by `NetworkLoop.watchInterfaces`, confined to that loop.
public final class InterfaceWatch {
  private let changes: InterfaceChanges
  private(set) var change: (() -> Void)?

  init(changes: InterfaceChanges, _ change: @escaping () -> Void) {
    self.changes = changes
    self.change = change
  }

  /// Ends the calls and lets go of the callback.
  public func cancel() {
    changes.context.preconditionCurrent()
    change = nil
    changes.remove(self)
  }
}

/// A loop's netlink socket and who listens to it. Open only while somebody does. Confined to the loop.
final class InterfaceChanges {
  /// Never a socket's: those count up from 1.
  static let token = UInt64.max

  let context: LoopContext
  private var watches: [InterfaceWatch] = []
  private var descriptor: PolledDescriptor?

  init(context: LoopContext) { self.context = context }

  func watch(_ change: @escaping () -> Void) throws(NetworkError) -> InterfaceWatch {
    if descriptor == nil { try open() }
    let watch = InterfaceWatch(changes: self, change)
    watches.append(watch)
    return watch
  }

  private func open() throws(NetworkError) {
    let opened = sora_net_changes_open()
    if opened < 0 { throw .system(call: "socket(AF_NETLINK)", code: -opened) }
    descriptor = try PolledDescriptor(taking: opened, token: Self.token, context: context)
  }

  func remove(_ watch: InterfaceWatch) {
    watches.removeAll { $0 === watch }
    if watches.isEmpty { close() }
  }

  func close() {
    watches = []
    guard let descriptor else { return }
    descriptor.leave()
    descriptor.close()
    self.descriptor = nil
  }

  /// Reads what came, and calls back where it says that something changed.
  func read() {
    guard let descriptor, sora_net_changes_read(descriptor.number) != 0 else { return }
    for watch in watches { watch.change?() }
  }
}
