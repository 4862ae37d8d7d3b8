import CSoraNetwork

/// Calls back when an address or an interface of the host changes. Made by `NetworkLoop.watchInterfaces`, confined to that loop.
public final class InterfaceWatch {
  let core: LoopCore
  private(set) var change: (() -> Void)?

  init(core: LoopCore, _ change: @escaping () -> Void) {
    self.core = core
    self.change = change
  }

  /// Ends the calls and lets go of the callback.
  public func cancel() {
    core.preconditionCurrent()
    change = nil
    core.changes.remove(self)
  }
}

/// A loop's netlink socket and who listens to it. Open only while somebody does.
struct InterfaceChanges {
  /// Never a socket's: those count up from 1.
  static let token = UInt64.max

  private(set) var watches: [InterfaceWatch] = []
  private var descriptor: Int32 = -1
  private let poller: Int32

  init(poller: Int32) { self.poller = poller }

  mutating func add(_ watch: InterfaceWatch) throws(NetworkError) {
    if descriptor < 0 {
      let opened = sora_net_changes_open()
      if opened < 0 { throw .system(call: "socket(AF_NETLINK)", code: -opened) }
      let result = sora_net_poller_add(poller, opened, Self.token)
      if result < 0 {
        sora_net_close(opened)
        throw .system(call: "epoll_ctl", code: -result)
      }
      descriptor = opened
    }
    watches.append(watch)
  }

  mutating func remove(_ watch: InterfaceWatch) {
    watches.removeAll { $0 === watch }
    if watches.isEmpty { close() }
  }

  mutating func close() {
    watches = []
    guard descriptor >= 0 else { return }
    sora_net_poller_remove(poller, descriptor)
    sora_net_close(descriptor)
    descriptor = -1
  }

  /// Whether what came says that something changed.
  func read() -> Bool { descriptor >= 0 && sora_net_changes_read(descriptor) != 0 }
}

extension NetworkLoop {
  /// Calls `change` on the loop after an address came or went, or an interface went up or down (netlink, rtnetlink(7)). Several calls may
  /// come for one event; `hostAddresses()` tells what is there. On the loop.
  public func watchInterfaces(_ change: @escaping () -> Void) throws(NetworkError)
    -> InterfaceWatch
  {
    try core.watchInterfaces(change)
  }
}
