extension NetworkLoop {
  /// Calls `change` on the loop after an address came or went, or an interface went up or down (netlink, rtnetlink(7)). Several calls may
  /// come for one event; `hostAddresses()` tells what is there. On the loop.
  public func watchInterfaces(_ change: @escaping () -> Void) throws(NetworkError)
    -> InterfaceWatch
  {
    core.context.preconditionCurrent()
    return try core.watchInterfaces(change)
  }

  /// The addresses of the interfaces that are up, loopback ones included and flagged, in the system's order, each
  /// once. From any thread.
  ///
  /// Link-local IPv6 addresses are left out unless asked for: peers elsewhere can't use them
  /// (RFC 8445 §5.1.1.1 lets an agent leave them out where others exist).
  public static func hostAddresses(includingLinkLocalV6: Bool = false) throws(NetworkError)
    -> [HostAddress]
  {
    try HostAddress.all(includingLinkLocalV6: includingLinkLocalV6)
  }
}
