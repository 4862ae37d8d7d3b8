import Foundation

/// A folder that recordings can be written in.
public struct RecordingFolder: Sendable, Hashable {
  public let path: String

  /// Makes the folder where it isn't there.
  ///
  /// - Throws: where nothing can be written there, or libavformat is missing.
  public init(_ path: String) throws(MediaFileError) {
    try MediaRecorder.prepare()
    // With the point below it would be the root.
    guard !path.isEmpty else {
      throw .system(path: "a folder without a name", operation: "write files in", errno: ENOENT)
    }
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    // With the point, so that a file is none.
    guard unsafe access(path + "/.", W_OK | X_OK) == 0 else {
      throw .system(path: path, operation: "write files in", errno: errno)
    }
    self.path = path
  }

  /// A path that no file has yet: `name` with this ending, or with a number behind it.
  func freePath(_ name: String, ending: String) -> String {
    var number = 1
    while true {
      let tail = number == 1 ? "" : "_\(number)"
      let candidate = "\(path)/\(name)\(tail).\(ending)"
      if !FileManager.default.fileExists(atPath: candidate) { return candidate }
      number += 1
    }
  }

  /// Parts of a name, joined by `_`: each at most 64 characters; those that mean something in paths, or nothing everywhere, become `_`.
  static func fileName(_ parts: [String]) -> String {
    let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    return parts.map { part in String(part.prefix(64).map { allowed.contains($0) ? $0 : "_" }) }
      .joined(separator: "_")
  }

  /// A time as files' names have it.
  static func stamp(_ time: Date) -> String {
    time.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
  }
}
