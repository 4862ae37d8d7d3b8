import Foundation
import TestPrograms
import Testing

/// What `make install` puts where shells and `man` look.
@Suite(.timeLimit(.minutes(2))) struct InstallTests {
  private static let commands = [
    "codecs", "devices", "doctor", "message", "play", "publish", "serve", "stats",
  ]

  private func run(_ program: String, _ arguments: [String], environment: [String: String] = [:])
    throws -> (status: Int32, output: String, errors: String)
  {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    // A page is longer than a pipe holds.
    _ = FileManager.default.createFile(atPath: output.path, contents: nil)
    defer { try? FileManager.default.removeItem(at: output) }
    process.standardOutput = try FileHandle(forWritingTo: output)
    let errors = Pipe()
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
    return (process.terminationStatus, text, said)
  }

  @Test func theFilesAreThereAndAreWhatTheirReadersTake() throws {
    let prefix = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-install-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: prefix) }
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Tools/install.sh").standardizedFileURL
    let installed = try run(
      script.path, [prefix.path], environment: ["SORA": try Run.command().path])
    #expect(installed.status == 0, "\(installed.errors)")

    let pages = ["share/man/man1/sora.1"] + Self.commands.map { "share/man/man1/sora-\($0).1" }
    let files = try #require(FileManager.default.enumerator(atPath: prefix.path))
      .compactMap { $0 as? String }
      .filter { path in
        var isFolder: ObjCBool = false
        let there = FileManager.default.fileExists(
          atPath: prefix.appendingPathComponent(path).path, isDirectory: &isFolder)
        return there && !isFolder.boolValue
      }
    #expect(
      Set(files)
        == Set(
          [
            "bin/sora", "share/bash-completion/completions/sora",
            "share/zsh/site-functions/_sora", "share/fish/vendor_completions.d/sora.fish",
          ] + pages))

    let completion = prefix.appendingPathComponent("share/bash-completion/completions/sora").path
    #expect(try run("bash", ["-n", completion]).status == 0)
    for page in pages {
      let path = prefix.appendingPathComponent(page).path
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(text.contains(".SH NAME\n") && text.contains(".SH OPTIONS\n"), "\(page)")
    }
    // Where the formatter is there, it has nothing to say.
    guard try run("groff", ["--version"]).status == 0 else { return }
    for page in pages {
      let path = prefix.appendingPathComponent(page).path
      let shown = try run("groff", ["-man", "-ww", "-Tutf8", "-P-c", path])
      #expect(shown.status == 0 && shown.errors.isEmpty, "\(page): \(shown.errors)")
    }
    let play = prefix.appendingPathComponent("share/man/man1/sora-play.1").path
    let shown = try run("groff", ["-man", "-Tascii", "-P-c", "-P-b", "-P-u", "-P-o", play]).output
    for option in ["--channel <id>", "--rid", "--expect-psnr <dB>"] {
      #expect(shown.contains(option), "\(option)")
    }
  }
}
