import Foundation
import Synchronization

/// A Redis of a test's own, on a free port of the loopback, which keeps nothing.
public final class RedisServer: Sendable {
  /// Why there is none.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  public static let program = "/usr/bin/redis-server"
  public static let isInstalled = FileManager.default.isExecutableFile(atPath: program)
  public static let requirement = "needs Debian's redis-server"

  public let port: Int
  private let password: String?
  private let process = Mutex<Process?>(nil)

  /// Starts one, and waits until it answers.
  ///
  /// - Parameter password: what it asks for; nil for nothing.
  public init(password: String? = nil) throws {
    self.password = password
    // A port that was free a moment ago may be taken.
    for _ in 0..<20 {
      let free = try Self.freePort()
      if let started = try Self.start(on: free, password: password) {
        port = free
        process.withLock { $0 = started }
        return
      }
    }
    throw Failure(description: "no redis-server came up")
  }

  deinit { stop() }

  public var url: String {
    "redis://" + (password.map { ":\($0)@" } ?? "") + "127.0.0.1:\(port)"
  }

  /// Ends it as a crash would.
  public func stop() {
    guard let running = process.withLock({ $0.take() }) else { return }
    kill(running.processIdentifier, SIGCONT)
    kill(running.processIdentifier, SIGKILL)
    running.waitUntilExit()
  }

  /// Starts it again, on the same port and empty.
  public func startAgain() throws {
    for _ in 0..<50 {
      if let started = try Self.start(on: port, password: password) {
        return process.withLock { $0 = started }
      }
      usleep(20_000)
    }
    throw Failure(description: "no redis-server came up again")
  }

  /// Has it do something (`redis-cli`).
  public func command(_ arguments: String...) throws {
    let client = Process()
    client.executableURL = URL(fileURLWithPath: "/usr/bin/redis-cli")
    client.arguments = ["-p", "\(port)"] + arguments
    client.standardOutput = FileHandle.nullDevice
    try client.run()
    client.waitUntilExit()
    guard client.terminationStatus == 0 else {
      throw Failure(description: "redis-cli ended with \(client.terminationStatus)")
    }
  }

  /// Has it answer nobody, and again.
  public func pause(_ isPaused: Bool) {
    process.withLock {
      if let running = $0 { kill(running.processIdentifier, isPaused ? SIGSTOP : SIGCONT) }
    }
  }

  /// nil where the port was taken.
  private static func start(on port: Int, password: String?) throws -> Process? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments =
      [
        "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
        FileManager.default.temporaryDirectory.path,
      ] + (password.map { ["--requirepass", $0] } ?? [])
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline {
      // Another's Redis may have the port: then ours has ended.
      if !process.isRunning { return nil }
      if answers(on: port), process.isRunning { return process }
      usleep(10_000)
    }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    return nil
  }

  private static func answers(on port: Int) -> Bool {
    guard let descriptor = try? socket(port) else { return false }
    close(descriptor.0)
    return descriptor.isConnected
  }

  private static func freePort() throws -> Int {
    let descriptor = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
    defer { close(descriptor) }
    var address = loopback(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 ? getsockname(descriptor, $0, &size) : -1
      }
    }
    guard status == 0 else { throw POSIXError(.EADDRINUSE) }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  private static func socket(_ port: Int) throws -> (Int32, isConnected: Bool) {
    let descriptor = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
    var address = loopback(port)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return (descriptor, status == 0)
  }

  private static func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}
