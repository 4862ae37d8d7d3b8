public import SoraICE

/// Addresses that come and go while a network runs.
extension SimulatedNetwork {
  /// Gives a host another address, as when it joins a network.
  ///
  /// - Parameters:
  ///   - address: the address to add.
  ///   - host: whose it becomes.
  ///   - link: the host's link that serves it, where its links were made for certain addresses.
  public func addAddress(
    _ address: IPAddress, to host: SimulatedHost, over link: SimulatedLink? = nil
  ) {
    changeAddresses(of: host, adding: address, removing: nil, over: link)
  }

  /// Takes an address from a host, as when it leaves a network. Datagrams under way to it are dropped.
  public func removeAddress(_ address: IPAddress, from host: SimulatedHost) {
    changeAddresses(of: host, adding: nil, removing: address, over: nil)
  }

  /// Gives a host one address in the place of another, as when it roams; whoever listens hears of both at once.
  public func changeAddress(
    _ old: IPAddress, to new: IPAddress, of host: SimulatedHost, over link: SimulatedLink? = nil
  ) {
    changeAddresses(of: host, adding: new, removing: old, over: link)
  }

  private func changeAddresses(
    of host: SimulatedHost, adding new: IPAddress?, removing old: IPAddress?,
    over link: SimulatedLink?
  ) {
    var removed: [IPAddress] = []
    if let old, owners[old] == host.index {
      host.addresses.removeAll { $0 == old }
      owners[old] = nil
      removed = [old]
    }
    var added: [IPAddress] = []
    if let new, owners[new] == nil {
      host.addresses.append(new)
      owners[new] = host.index
      added = [new]
    }
    if let link, let new, !added.isEmpty {
      for position in exits[host.index].indices
      where exits[host.index][position].direction >> 1 == link.forward.index >> 1 {
        exits[host.index][position].addresses?.append(new)
      }
    }
    routes.removeAll(keepingCapacity: true)
    guard !added.isEmpty || !removed.isEmpty else { return }
    for observer in host.addressObservers { observer(added, removed) }
  }
}
