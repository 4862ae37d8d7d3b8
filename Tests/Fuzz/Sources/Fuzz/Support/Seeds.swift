#if canImport(Glibc)
  import Glibc
#endif

/// Writes the seeds, so that the corpus can be made again when a format or a script changes.
enum Seeds {
  static func write(to folder: String) {
    mkdir(folder, 0o755)
    for target in FuzzTarget.all {
      let path = "\(folder)/\(target.name)"
      mkdir(path, 0o755)
      for (index, seed) in target.seeds().enumerated() {
        let name = index < 10 ? "seed-0\(index)" : "seed-\(index)"
        guard let file = fopen("\(path)/\(name)", "wb") else {
          perror(path)
          exit(1)
        }
        _ = seed.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        fclose(file)
      }
    }
  }

  static func text(_ lines: String) -> [UInt8] { Array(lines.utf8) }

  /// Lets a writer fill a datagram.
  static func datagram(
    _ capacity: Int = 1500, _ write: (UnsafeMutableRawBufferPointer) throws -> Int
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: capacity)
    let count = bytes.withUnsafeMutableBytes { (try? write($0)) ?? 0 }
    return Array(bytes.prefix(count))
  }
}
