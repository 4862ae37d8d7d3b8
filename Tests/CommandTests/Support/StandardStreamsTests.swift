import Foundation
import Testing

/// A command whose caller has closed its standard output or error, or gives it a disk that is full.
@Suite struct StandardStreamsTests {
  /// The exit status under a shell that redirects as it is told.
  private func status(_ arguments: String, _ redirection: String) throws -> Int32 {
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", "exec \"$0\" \(arguments) \(redirection)", try Run.command().path]
    shell.standardInput = FileHandle.nullDevice
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationReason == .exit, "a signal ended it")
    return shell.terminationStatus
  }

  @Test(arguments: ["2>/dev/full", "2>&-", "<&- >&- 2>&-"])
  func anErrorThatNobodyReadsKeepsItsStatus(_ redirection: String) throws {
    #expect(try status("--bogus", redirection) == 2)
    let call = "ws://127.0.0.1:1/signaling --channel c"
    #expect(try status("play \(call)", redirection) == 1)
    #expect(try status("publish \(call) --json", redirection) == 1)
  }

  /// What is printed must go into no file that was opened meanwhile.
  @Test(arguments: ["--help", "codecs", "codecs --json"])
  func outputThatIsClosedIsAnError(_ arguments: String) throws {
    #expect(try status(arguments, ">&-") == 1)
    #expect(try status(arguments, ">&- 2>&-") == 1)
    #expect(try status(arguments, ">/dev/full") == 1)
  }

  /// As a usage error into `| head` does.
  @Test func anErrorIntoAPipeThatIsClosedKeepsItsStatus() throws {
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let command = Process()
    command.executableURL = try Run.command()
    command.arguments = ["--bogus"]
    command.standardError = pipe
    try command.run()
    command.waitUntilExit()
    #expect(command.terminationReason == .exit && command.terminationStatus == 2)
  }
}
