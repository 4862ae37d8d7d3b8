import FuzzerEntry

#if canImport(Glibc)
  import Glibc
#endif

/// One executable for all targets: it builds once, and the environment or the first argument says which one runs.
///
///     Fuzz list                      the targets' names
///     Fuzz seeds FOLDER              writes FOLDER/<target>/seed-* from the library's own writers
///     Fuzz TARGET [libFuzzer's own arguments and corpus folders]
@main
struct Main {
  /// The target that the callback runs. Written once, before libFuzzer starts, on the only thread there is.
  nonisolated(unsafe) static var current: FuzzTarget?

  static func main() {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case nil:
      fail("give a target, `list` or `seeds FOLDER`")
    case "list":
      for target in FuzzTarget.all { print(target.name) }
    case "seeds":
      guard arguments.count == 3 else { fail("usage: Fuzz seeds FOLDER") }
      Seeds.write(to: arguments[2])
    case let name?:
      guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        fail("no target \(name); `Fuzz list` names them")
      }
      current = target
      run(arguments.dropFirst(2))
    }
  }

  /// Hands over to libFuzzer, which never comes back where it finds something.
  private static func run(_ options: ArraySlice<String>) {
    guard let target = current else { return }
    var words = [CommandLine.arguments[0]]
    // Placed first, so that the caller's own value wins.
    words.append("-max_len=\(target.maximumLength)")
    words += options
    var pointers = words.map { strdup($0) }
    pointers.append(nil)
    let status = pointers.withUnsafeMutableBufferPointer { buffer in
      var count = CInt(words.count)
      var base = buffer.baseAddress
      return sora_fuzzer_run(&count, &base) { bytes, count in
        Main.current?.run(UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
      }
    }
    exit(status)
  }

  private static func fail(_ message: String) -> Never {
    let line = "Fuzz: \(message)\n"
    _ = write(2, line, line.utf8.count)
    exit(2)
  }
}
