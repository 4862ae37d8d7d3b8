package import Foundation

/// Where a tool of this name lies on the search path.
package func tool(_ name: String) -> String? {
  let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
  return path.split(separator: ":").map { "\($0)/\(name)" }.first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
}

/// Runs a tool to its end and returns its exit status; what it says is thrown away.
package func run(_ name: String, _ arguments: [String]) throws -> Int32 {
  struct Missing: Error { let name: String }
  guard let path = tool(name) else { throw Missing(name: name) }
  let process = Process()
  process.executableURL = URL(fileURLWithPath: path)
  process.arguments = arguments
  process.standardInput = FileHandle.nullDevice
  process.standardOutput = FileHandle.nullDevice
  process.standardError = FileHandle.nullDevice
  try process.run()
  process.waitUntilExit()
  return process.terminationStatus
}

/// Runs a tool to its end and returns the lines that it writes on standard output; errors are thrown away.
package func lines(of name: String, _ arguments: [String]) throws -> [String] {
  struct Missing: Error { let name: String }
  guard let path = tool(name) else { throw Missing(name: name) }
  let process = Process()
  let output = Pipe()
  process.executableURL = URL(fileURLWithPath: path)
  process.arguments = arguments
  process.standardInput = FileHandle.nullDevice
  process.standardOutput = output
  process.standardError = FileHandle.nullDevice
  try process.run()
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  return text.split(whereSeparator: \.isNewline).map(String.init)
}

/// Runs `body` with a folder of its own, which is removed afterwards.
package func withTemporaryFolder(_ body: (URL) throws -> Void) throws {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "codec-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try body(folder)
}

/// IVF files: a 32-byte header, then each frame behind a 12-byte header.
package enum IVF {
  package static func write(_ frames: [[UInt8]], fourCC: String, width: Int, height: Int) -> Data {
    func little<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
      withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
    var data = Data("DKIF".utf8)
    data += little(UInt16(0)) + little(UInt16(32)) + Array(fourCC.utf8)
    data += little(UInt16(width)) + little(UInt16(height)) + little(UInt32(30)) + little(UInt32(1))
    data += little(UInt32(frames.count)) + little(UInt32(0))
    for (index, frame) in frames.enumerated() {
      data += little(UInt32(frame.count)) + little(UInt64(index)) + frame
    }
    return data
  }

  package static func read(_ data: Data) -> [[UInt8]] {
    let bytes = [UInt8](data)
    var frames: [[UInt8]] = []
    var offset = 32
    while offset + 12 <= bytes.count {
      let size = (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
      offset += 12
      guard offset + size <= bytes.count else { break }
      frames.append(Array(bytes[offset..<offset + size]))
      offset += size
    }
    return frames
  }
}

/// A Y4M file of the moving test picture, for other encoders.
package func writeY4M(_ url: URL, width: Int, height: Int, count: Int) throws {
  var data = Data("YUV4MPEG2 W\(width) H\(height) F30:1 Ip A1:1 C420jpeg\n".utf8)
  for index in 0..<count {
    data += Data("FRAME\n".utf8)
    data += Pictures.bytes(Pictures.make(width, height, index: index))
  }
  try data.write(to: url)
}
