import Foundation
import SoraTransport
import Testing

/// A network namespace of a test's own, and a loop in it. It goes with its last socket and thread.
final class TestNamespace: Sendable {
  /// Opens its sockets in the namespace: a thread stays in the one that it was made in.
  let loop: NetworkLoop
  /// The namespace as a file, for tools.
  let path: String
  private let descriptor: Int32

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// Why there are none here; nil where there are. A process of many threads can't enter a user namespace, so only
  /// root can make them.
  static let missing: String? = {
    guard getuid() == 0 else { return "only root can make network namespaces for threads" }
    for tool in ["/usr/bin/nsenter", "/usr/bin/env"]
    where !FileManager.default.isExecutableFile(atPath: tool) {
      return "\(tool) is missing"
    }
    do {
      try run("ip link show lo", in: "/proc/self/ns/net")
    } catch {
      return "\(error)"
    }
    let isAllowed = onThread { enterNew() }
    return isAllowed ? nil : "network namespaces are not allowed here"
  }()

  /// Makes one whose loopback interface is up.
  init(_ configuration: NetworkLoop.Configuration = .init()) throws {
    let made = Self.onThread { () -> Result<(NetworkLoop, Int32), any Error> in
      Result {
        guard Self.enterNew() else { throw Failure(description: "unshare: \(errno)") }
        let descriptor = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(description: "no namespace: \(errno)") }
        return (try NetworkLoop.make(configuration: configuration), descriptor)
      }
    }
    (loop, descriptor) = try made.get()
    path = "/proc/\(getpid())/fd/\(descriptor)"
    try run("ip link set lo up")
  }

  deinit { close(descriptor) }

  /// Runs shell commands in the namespace, to their end.
  func run(_ script: String) throws { try Self.run(script, in: path) }

  private static func run(_ script: String, in path: String) throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/nsenter")
    process.arguments = ["--net=\(path)", "sh", "-euc", script]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "\(script): \(String(decoding: text, as: UTF8.self))")
    }
  }

  /// Takes the calling thread to a new namespace (unshare of CLONE_NEWNET, which Swift's overlay doesn't show).
  private static func enterNew() -> Bool {
    typealias Unshare = @convention(c) (Int32) -> Int32
    guard let symbol = dlsym(nil, "unshare") else { return false }
    return unsafeBitCast(symbol, to: Unshare.self)(0x4000_0000) == 0
  }

  /// Runs `body` on a thread that ends with it, and so takes its namespace nowhere.
  private static func onThread<Value>(_ body: @escaping () -> Value) -> Value {
    let box = Box<Value>(body)
    let thread = Thread { box.run() }
    thread.start()
    box.done.wait()
    return box.value.unsafelyUnwrapped
  }

  private final class Box<Value>: @unchecked Sendable {
    // @unchecked: the thread writes before it signals, its maker reads behind the wait.
    private let body: () -> Value
    private(set) var value: Value?
    let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping () -> Value) { self.body = body }

    func run() {
      value = body()
      done.signal()
    }
  }
}

extension Trait where Self == ConditionTrait {
  static var needsNamespaces: Self {
    .disabled(if: TestNamespace.missing != nil, "\(TestNamespace.missing ?? "")")
  }
}
