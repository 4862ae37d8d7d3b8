import Foundation
import Glibc

/// A port of this machine on which nothing listens, and that nobody else gets while the tests run: it stays bound.
public func unusedPort() throws -> Int { try boundSocket().port }

/// A port of this machine that takes connections, and then never says a word; as long as the tests run.
public func mutePort() throws -> Int {
  let (descriptor, port) = try boundSocket()
  guard listen(descriptor, 16) == 0 else { throw POSIXError(.EADDRINUSE) }
  return port
}

private func boundSocket() throws -> (descriptor: Int32, port: Int) {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isBound = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
    }
  }
  guard descriptor >= 0, isBound else { throw POSIXError(.EADDRNOTAVAIL) }
  return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}
