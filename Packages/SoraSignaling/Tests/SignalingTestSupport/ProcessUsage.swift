import Foundation
import Glibc

/// What this process holds (proc(5)).
public struct ProcessUsage: CustomStringConvertible, Sendable {
  public var descriptors = 0
  public var threads = 0
  public var residentBytes = 0

  /// Looks at it now.
  public init() {
    // Pages that the allocator keeps free aren't the program's.
    _ = Self.trim?(0)
    descriptors = Self.entries("/proc/self/fd")
    threads = Self.entries("/proc/self/task")
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let words = text.split(separator: " ")
    residentBytes = (words.count > 1 ? Int(words[1]) ?? 0 : 0) * Int(getpagesize())
  }

  public var description: String {
    "\(descriptors) descriptors, \(threads) threads, \(residentBytes >> 10) KiB resident"
  }

  /// Whether it is no more than `other`: sockets at all, memory within 5 %, and threads but for a few, where Dispatch may have needed
  /// more workers meanwhile.
  public func isWithin(_ other: ProcessUsage, workers: Int) -> Bool {
    descriptors <= other.descriptors && threads <= other.threads + workers
      && residentBytes <= other.residentBytes + other.residentBytes / 20
  }

  /// malloc_trim(3), which the module of glibc doesn't have.
  private static let trim: (@convention(c) (Int) -> Int32)? = {
    guard let symbol = dlsym(nil, "malloc_trim") else { return nil }
    return unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
  }()

  private static func entries(_ folder: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
  }
}
