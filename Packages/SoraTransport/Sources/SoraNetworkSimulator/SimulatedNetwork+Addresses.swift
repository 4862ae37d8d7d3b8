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
    let (added, removed) = topology.changeAddresses(
      of: host, adding: new, removing: old, over: link)
    guard !added.isEmpty || !removed.isEmpty else { return }
    for observer in host.addressObservers { observer(added, removed) }
  }
}
