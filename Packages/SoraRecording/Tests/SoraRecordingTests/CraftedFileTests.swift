import Foundation
import SoraMedia
import SoraRecording
import Synchronization
import Testing

/// Files that say what no program would write.
@Suite(.timeLimit(.minutes(5))) struct CraftedFileTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  /// An element of Matroska (RFC 8794 §7): eight bytes for its size.
  private func element(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] {
    id + [0x01] + bytes(content.count).dropFirst() + content
  }

  private func bytes(_ number: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
  }

  /// A Matroska file (RFC 9559) of samples that aren't coded: one block of 960 at each of the times, in milliseconds.
  ///
  /// - Parameter delay: what the coder is said to have put before the sound, in nanoseconds: all times are earlier by that.
  private func sound(delay: Int, at times: [Int], rate: Double = 48_000) throws -> String {
    let head = element(
      [0x1A, 0x45, 0xDF, 0xA3],
      element([0x42, 0x82], Array("matroska".utf8)) + element([0x42, 0x87], bytes(4))
        + element([0x42, 0x85], bytes(2)))
    let info = element([0x15, 0x49, 0xA9, 0x66], element([0x2A, 0xD7, 0xB1], bytes(1_000_000)))
    let format =
      element([0xB5], withUnsafeBytes(of: rate.bitPattern.bigEndian) { Array($0) })
      + element([0x9F], bytes(1)) + element([0x62, 0x64], bytes(16))
    let track =
      element([0xD7], bytes(1)) + element([0x73, 0xC5], bytes(1)) + element([0x83], bytes(2))
      + element([0x86], Array("A_PCM/INT/LIT".utf8)) + element([0x56, 0xAA], bytes(delay))
      + element([0xE1], format)
    let tracks = element([0x16, 0x54, 0xAE, 0x6B], element([0xAE], track))
    let clusters = times.flatMap { time in
      element(
        [0x1F, 0x43, 0xB6, 0x75],
        element([0xE7], bytes(time))
          + element([0xA3], [0x81, 0, 0, 0x80] + [UInt8](repeating: 1, count: 960 * 2)))
    }
    let path = folder.path("a.mkv")
    try Data(head + element([0x18, 0x53, 0x80, 0x67], info + tracks + clusters))
      .write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Days before the beginning, and as far from it as can be said, back and forth.
  @Test(arguments: [
    (0, [0, 20, 40]), (250_000_000_000_000, [0, 20, 40]),
    (9_200_000_000_000_000_000, [0, 18_000_000_000_000]),
    (9_200_000_000_000_000_000, [18_000_000_000_000, 0, 20]),
    (0, [9_000_000_000_000, 0, 9_000_000_000_000]),
  ])
  func soundOfAnyTimeEnds(_ delay: Int, _ times: [Int]) async throws {
    let path = try sound(delay: delay, at: times)
    let reader = try MediaFileReader(path: path)
    var read: [Duration] = []
    while let frame = try reader.next() { read.append(frame.time) }
    #expect(reader.tracks[0].codecName == "pcm_s16le" && read.count == times.count, "\(read)")
    let player = try MediaFilePlayer(path: path)
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let blocks = Mutex(0)
    player.start { _ in
      blocks.withLock { $0 += 1 }
    } notify: { _ in
      continuation.yield()
    }
    // What lies years ahead doesn't come.
    if times.max() == 40 { for await _ in stream { break } } else { player.seek(to: .zero) }
    player.stop()
    #expect(delay > 0 || blocks.withLock { $0 } >= 1)
  }

  /// What a change of rate holds back is earlier than the earliest time that can be said.
  @Test func soundOfTheEarliestTimeIsNotLate() throws {
    let path = try sound(
      delay: 9_223_372_036_854_000_000, at: [0, 0, 1], rate: 8_000)
    let reader = try MediaFileReader(path: path)
    let decoder = try MediaFileDecoder(reader, track: 0)
    var blocks = 0
    while let frame = try reader.next() {
      try decoder.decode(frame) { output in
        guard case .sound(_, _, let time) = output else { return }
        blocks += 1
        #expect(time ?? .zero <= .zero)
      }
    }
    #expect(blocks == 3)
  }
}
