import CSoraNetwork
public import SoraICE

/// An address of this host that a socket can be bound to.
public struct HostAddress: Sendable, Hashable {
  public var ip: IPAddress
  /// The interface it belongs to, such as `eth0`.
  public var interfaceName: String
  /// The interface's index; what a link-local IPv6 address needs as its scope.
  public var interfaceIndex: Int
  /// Bits of the network part, 0 where the system doesn't say.
  public var prefixLength: Int
  /// Whether it only reaches this host.
  public var isLoopback: Bool

  public init(
    ip: IPAddress, interfaceName: String, interfaceIndex: Int, prefixLength: Int, isLoopback: Bool
  ) {
    self.ip = ip
    self.interfaceName = interfaceName
    self.interfaceIndex = interfaceIndex
    self.prefixLength = prefixLength
    self.isLoopback = isLoopback
  }
}

extension HostAddress {
  /// Those of the interfaces that are up: what `NetworkLoop.hostAddresses` tells.
  static func all(includingLinkLocalV6: Bool) throws(NetworkError) -> [HostAddress] {
    var result: [HostAddress] = []
    for item in try interfaceAddresses() {
      let address = item.address
      let isLinkLocalV6 = address.family == 6 && address.high >> 54 == 0xFE80 >> 6
      if isLinkLocalV6 && !includingLinkLocalV6 { continue }
      let ip = address.ip
      if result.contains(where: { $0.ip == ip && $0.interfaceIndex == Int(item.index) }) {
        continue
      }
      let name = unsafe withUnsafeBytes(of: item.name) { bytes in
        unsafe String(decoding: bytes.prefix(while: { $0 != 0 }), as: UTF8.self)
      }
      result.append(
        HostAddress(
          ip: ip, interfaceName: name, interfaceIndex: Int(item.index),
          prefixLength: Int(item.prefix_length), isLoopback: item.is_loopback != 0))
    }
    return result
  }

  /// The interface of one of this host's link-local IPv6 addresses; 0 for other addresses.
  static func scope(of address: sora_net_address) -> UInt32 {
    guard address.family == 6, address.high >> 54 == 0xFE80 >> 6 else { return 0 }
    let all = (try? interfaceAddresses()) ?? []
    return all.first { $0.address.high == address.high && $0.address.low == address.low }?.index
      ?? 0
  }

  private static func interfaceAddresses() throws(NetworkError) -> [sora_net_interface_address] {
    var capacity = 64
    while true {
      var items = [sora_net_interface_address](repeating: .init(), count: capacity)
      let count = unsafe items.withUnsafeMutableBufferPointer { buffer in
        unsafe Int(sora_net_list_addresses(buffer.baseAddress, Int32(buffer.count)))
      }
      if count < 0 { throw .system(call: "getifaddrs", code: Int32(-count)) }
      if count <= capacity { return Array(items.prefix(count)) }
      capacity = count * 2
    }
  }
}
