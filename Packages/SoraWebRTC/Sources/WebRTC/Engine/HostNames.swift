import SoraICE

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The system's resolver. Blocks: not for a network loop.
enum HostNames {
  /// The addresses of a name, in the system's order; empty where it can't be resolved.
  static func addresses(of name: String) -> [IPAddress] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    unsafe hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
    defer { unsafe freeaddrinfo(list) }
    var result: [IPAddress] = []
    var entry = unsafe list
    while let current = unsafe entry {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      if unsafe getnameinfo(
        current.pointee.ai_addr, current.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
        NI_NUMERICHOST) == 0,
        let address = IPAddress(
          String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)),
        !result.contains(address)
      {
        result.append(address)
      }
      unsafe entry = unsafe current.pointee.ai_next
    }
    return result
  }
}
