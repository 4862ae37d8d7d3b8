import CSoraNetwork
public import SoraICE

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension UDPSocket {
  /// Entries of the error queue that are read at a time. Epoll reports what is left in the next turn.
  private static let errorLimit = 64

  /// Bytes of the longest IP packet, headers included, that the path to `destination` takes as far as the kernel
  /// knows: what ICMP messages have said, and before them the interface's MTU. `nil` where there is no route.
  ///
  /// Asks the kernel with some system calls: not for each packet. On the loop.
  public func pathMTU(to destination: IPAddress) -> Int? {
    context.preconditionCurrent()
    var local = sora_net_address(localAddress)
    var remote = sora_net_address(TransportAddress(ip: destination, port: 9))
    local.scope = scope
    remote.scope = scope
    let mtu = unsafe sora_net_path_mtu(&local, &remote)
    return mtu > 0 ? Int(mtu) : nil
  }

  /// Reads what ICMP messages and refused sends have left in the socket's error queue, which epoll reports until it is
  /// empty.
  ///
  /// - Parameter refused: where the datagram went that the kernel has just refused.
  /// - Returns: whether ICMP messages were there and nothing that the kernel itself refused: the error of the call
  ///   before was then that of an earlier datagram.
  @discardableResult
  func readErrors(refused: sora_net_address? = nil) -> Bool {
    var error = sora_net_error()
    var reported = false
    var refusedOne = false
    for _ in 0..<Self.errorLimit {
      guard unsafe sora_net_next_error(descriptor.number, &error) != 0 else { break }
      if error.is_local != 0 {
        refusedOne = true
        if let refused { error.to = refused }
      } else {
        reported = true
        counters.icmp.count(error.code)
      }
      if error.code == EMSGSIZE, error.mtu > 0, error.to.family != 0 {
        pathMTUReport = PathMTUReport(destination: error.to.ip, mtu: Int(error.mtu))
      }
    }
    return reported && !refusedOne
  }
}

extension NetworkStatistics.ICMP {
  fileprivate mutating func count(_ code: Int32) {
    switch code {
    case EMSGSIZE: packetTooBig &+= 1
    case ECONNREFUSED: portUnreachable &+= 1
    case ENETUNREACH, EHOSTUNREACH, EHOSTDOWN, ENONET: unreachable &+= 1
    case EACCES: prohibited &+= 1
    default: other &+= 1
    }
  }
}
