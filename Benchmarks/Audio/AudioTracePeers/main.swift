import Foundation
import SoraClock

// `AudioTracePeers serve ADDRESS FOLDER`: a server of Sora's signaling that is the other peer of each client by itself: a channel's name is that
// of a trace in FOLDER (`AudioTrace --trace`), whose packets every client of the channel gets at the same times. It begins when a line
// comes on standard input, and ends with standard input.
// `AudioTracePeers receive URL FOLDER CHANNEL...`: our SDK as such clients; writes what was heard to FOLDER when standard input ends.

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("AudioTracePeers: \(message)\n".utf8))
  exit(1)
}

/// One line on standard output, at once.
func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// Waits for a line or the end of standard input, on a thread of its own.
func nextLine() async -> String? {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(returning: readLine()) }
  }
}

let words = Array(CommandLine.arguments.dropFirst())
do {
  switch (words.first, words.count) {
  case ("serve", 3):
    try await TraceServer(address: words[1], folder: words[2]).run()
  case ("receive", 4...):
    try await Receivers(url: words[1], folder: words[2], channels: Array(words[3...])).run()
  default:
    fail("usage: AudioTracePeers serve ADDRESS FOLDER | receive URL FOLDER CHANNEL...")
  }
} catch { fail("\(error)") }
