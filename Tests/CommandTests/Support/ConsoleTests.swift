import Foundation
import SoraCommandSupport
import Synchronization
import Testing

@Suite struct ConsoleTests {
  /// Resumes when standard output can't be written any more.
  private func failure(of console: Console) async {
    let (failures, failed) = AsyncStream.makeStream(of: Void.self)
    console.onOutputFailure {
      failed.yield()
      failed.finish()
    }
    for await _ in failures {}
  }

  @Test func aReaderThatGoesIsNoticedWithoutAWrite() async throws {
    let pipe = Pipe()
    let console = Console(
      isJSON: true, output: pipe.fileHandleForWriting.fileDescriptor, errors: -1)
    console.output("one line")
    #expect(pipe.fileHandleForReading.availableData == Data("one line\n".utf8))
    try pipe.fileHandleForReading.close()
    await failure(of: console)
    #expect(console.outputFailure == .readerGone)
    // No reason to say anything.
    try console.checkOutput()
    // Nor is another write the end of the process.
    console.output("nobody reads this")
  }

  @Test func outputThatCannotBeWrittenIsAFailure() async throws {
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let console = Console(isJSON: true, output: full.fileDescriptor, errors: -1)
    let calls = Mutex(0)
    console.onOutputFailure { calls.withLock { $0 += 1 } }
    try console.checkOutput()
    console.output("a line")
    console.output("another")
    await failure(of: console)
    #expect(calls.withLock { $0 } == 1)
    let error = #expect(throws: JobError.self) { try console.checkOutput() }
    #expect(
      error?.description == "output: cannot write to standard output: No space left on device")
  }

  @Test func elsewhereThanOnATerminalTheStatusIsPlainLines() throws {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    let console = Console(isJSON: false, output: descriptor, errors: descriptor)
    console.status(["a", "b"])
    console.status(["c"])
    console.output("d")
    #expect(pipe.fileHandleForReading.availableData == Data("a\nb\nc\nd\n".utf8))
  }
}
