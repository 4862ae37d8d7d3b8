import Foundation

/// One run of a command-line tool: how long it took, what it used and what it said.
struct ToolRun {
  var wallSeconds: Double
  var cpuSeconds: Double
  var peakBytes: Int
  /// Standard output and standard error.
  var text: String

  /// Runs `arguments[0]`; throws where it isn't there or fails.
  init(_ arguments: [String]) throws {
    var descriptors: [Int32] = [0, 0]
    guard pipe(&descriptors) == 0 else { throw ToolError(text: "no pipe: \(errno)") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, descriptors[1], 1)
    posix_spawn_file_actions_adddup2(&actions, descriptors[1], 2)
    posix_spawn_file_actions_addclose(&actions, descriptors[0])
    var process: pid_t = 0
    var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    argv.append(nil)
    defer { argv.forEach { free($0) } }
    // The malloc of this program is not the tool's.
    var environment: [UnsafeMutablePointer<CChar>?] = ProcessInfo.processInfo.environment
      .filter { $0.key != "LD_PRELOAD" }.map { strdup("\($0.key)=\($0.value)") }
    environment.append(nil)
    defer { environment.forEach { free($0) } }
    let started = ContinuousClock.now
    let status = posix_spawnp(&process, arguments[0], &actions, nil, argv, environment)
    close(descriptors[1])
    guard status == 0 else {
      close(descriptors[0])
      throw ToolError(text: "\(arguments[0]) can't be run: \(String(cString: strerror(status)))")
    }
    let output = FileHandle(fileDescriptor: descriptors[0], closeOnDealloc: true)
      .readDataToEndOfFile()
    var exit: Int32 = 0
    var usage = rusage()
    while wait4(process, &exit, 0, &usage) < 0, errno == EINTR {}
    wallSeconds = (ContinuousClock.now - started).seconds
    cpuSeconds = usage.ru_utime.seconds + usage.ru_stime.seconds
    peakBytes = usage.ru_maxrss * 1024
    text = String(decoding: output, as: UTF8.self)
    guard exit == 0 else {
      throw ToolError(text: "\(arguments.joined(separator: " ")) failed: \(text.suffix(400))")
    }
  }

  /// The last number in front of the word `fps` in what the tool said: its own count, without files and start-up.
  /// ffmpeg says how long it took instead.
  func framesPerSecond(of frameCount: Int) -> Double? {
    let words = text.replacing("(", with: " ").replacing(")", with: " ").split {
      $0.isWhitespace || $0 == ","
    }
    var found: Double?
    for (index, word) in words.enumerated() {
      if word == "fps", index > 0, let number = words[index - 1].split(separator: "/").first {
        found = Double(number) ?? found
      } else if word.hasPrefix("rtime="), let seconds = Double(word.dropFirst(6).dropLast()) {
        found = Double(frameCount) / max(seconds, 1e-3)
      }
    }
    return found
  }
}

struct ToolError: Error, CustomStringConvertible {
  var text: String
  var description: String { text }
}

/// What this process has used.
enum Usage {
  static var cpuSeconds: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_utime.seconds + usage.ru_stime.seconds
  }

  /// Forgets the peak of resident memory (proc(5), clear_refs), so that the next peak is the next row's own.
  static func resetPeak() {
    try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
  }

  static var residentBytes: Int { status("VmRSS:") }
  static var peakBytes: Int { status("VmHWM:") }

  private static func status(_ key: String) -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(key) }),
      let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first
    else { return 0 }
    return (Int(kilobytes) ?? 0) * 1024
  }
}

extension timeval {
  fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
