import Foundation
import Glibc
import Synchronization

/// A path for media that a test can cut: what comes to one port of this host goes on to another, and back. Nothing says so when it is cut.
final class DatagramRelay: Sendable {
  private enum Failure: Error { case socket(errno: Int32) }

  /// Where clients send to.
  let port: UInt16
  private let isOpen = Mutex(true)
  private let isRunning = Mutex(true)

  /// - Parameters:
  ///   - address: an IPv4 address of this host, which both sides use.
  ///   - target: the port that it leads to.
  init(_ address: String, to target: UInt16) throws {
    let (front, port) = try Self.open(address)
    let (back, _) = try Self.open(address)
    self.port = port
    Thread.detachNewThread { [self] in
      defer {
        Glibc.close(front)
        Glibc.close(back)
      }
      var client = sockaddr_in()
      let server = Self.name(address, target)
      while isRunning.withLock({ $0 }) {
        var polled = [
          pollfd(fd: front, events: Int16(POLLIN), revents: 0),
          pollfd(fd: back, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&polled, 2, 50) > 0 else { continue }
        if polled[0].revents != 0 { forward(front, back, from: &client, to: server) }
        var ignored = sockaddr_in()
        if polled[1].revents != 0 { forward(back, front, from: &ignored, to: client) }
      }
    }
  }

  /// From now on everything is lost, without a word.
  func cut() { isOpen.withLock { $0 = false } }

  /// Gives the sockets back.
  func stop() { isRunning.withLock { $0 = false } }

  private func forward(
    _ socket: Int32, _ other: Int32, from source: inout sockaddr_in, to target: sockaddr_in
  ) {
    var bytes = [UInt8](repeating: 0, count: 2048)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let count = withUnsafeMutablePointer(to: &source) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        recvfrom(socket, &bytes, bytes.count, 0, $0, &size)
      }
    }
    guard count > 0, target.sin_port != 0, isOpen.withLock({ $0 }) else { return }
    var name = target
    _ = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(other, bytes, count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  private static func name(_ address: String, _ port: UInt16) -> sockaddr_in {
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    inet_pton(AF_INET, address, &name.sin_addr)
    return name
  }

  private static func open(_ address: String) throws -> (Int32, UInt16) {
    let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    guard socket >= 0 else { throw Failure.socket(errno: errno) }
    var own = name(address, 0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &own) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, size) == 0 ? getsockname(socket, $0, &size) : -1
      }
    }
    guard status == 0 else { throw Failure.socket(errno: errno) }
    return (socket, UInt16(bigEndian: own.sin_port))
  }
}
