import CSoraMallocCount
import CodecTestSupport
import Foundation
import SoraCodecs
import SoraMedia
import SoraVP8
import SoraVP9
import SoraVPX
import Testing

/// Room for the most tokens that a frame can have is the larger part of what libvpx's encoders hold.
@Suite(
  .enabled(
    if: sora_malloc_count_is_on() != 0,
    "another allocator, where nothing is given back (sanitizers)"))
struct TokenMemoryTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let codec: VPXCodec
    let threads: Int
    var testDescription: String { "\(codec), \(threads) threads" }

    static let all = [VPXCodec.vp8, .vp9].flatMap { codec in
      [1, 3].map { Case(codec: codec, threads: $0) }
    }
  }

  private static let tokenBytes = 16

  /// Of a size, and of a smaller one.
  private static let pictures = [(640, 368), (1280, 720), (500, 300)].map { width, height in
    (
      large: (0..<2).map { Pictures.make(width, height, index: $0) },
      small: (2..<4).map { Pictures.make(width - 160, height - 96, index: $0) }
    )
  }

  /// All of it but pages that it shares with what lies before and behind it.
  private static func isAll(_ given: Int, _ codec: VPXCodec, _ width: Int, _ height: Int) -> Bool {
    let most = codec.tokenCount(width: width, height: height) * tokenBytes
    return given > most - 2 * Int(getpagesize()) && given <= most
  }

  @Test(arguments: Case.all)
  func whatIsEncodedStaysTheSame(_ test: Case) throws {
    for (large, small) in Self.pictures {
      let (width, height) = (large[0].width, large[0].height)
      let made = try [false, true].map { givesBack in
        let encoder = try BareEncoder(
          test.codec, width: width, height: height, threads: test.threads, givesBack: givesBack)
        #expect(
          givesBack
            ? Self.isAll(encoder.givenBack, test.codec, width, height)
            : encoder.givenBack == 0)
        let before = try encoder.encode(large)
        try encoder.resize(small[0].width, small[0].height)
        return try before + encoder.encode(small)
      }
      #expect(made[0].count == 4)
      #expect(made[0] == made[1])
    }
  }

  @Test(arguments: [VPXCodec.vp8, .vp9])
  func encodersThatStartAtTheSameTimeDoNotDisturbEachOther(_ codec: VPXCodec) async throws {
    let (width, height) = (640, 368)
    let pictures = (0..<6).map { Pictures.make(width, height, index: $0) }
    let alone = try (0..<4).map { first in
      try BareEncoder(codec, width: width, height: height, givesBack: false)
        .encode(Array(pictures[first..<first + 3]))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for first in 0..<4 {
        group.addTask {
          for _ in 0..<3 {
            let encoder = try BareEncoder(codec, width: width, height: height, givesBack: true)
            #expect(Self.isAll(encoder.givenBack, codec, width, height))
            #expect(try encoder.encode(Array(pictures[first..<first + 3])) == alone[first])
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func nothingIsGivenBackOfAnotherSize() throws {
    let encoder = try BareEncoder(.vp8, width: 640, height: 368, givesBack: false)
    #expect(encoder.giveBack(VPXCodec.vp8.tokenCount(width: 640, height: 352)) == 0)
    #expect(encoder.giveBack(VPXCodec.vp8.tokenCount(width: 640, height: 384)) == 0)
    #expect(encoder.giveBack(0) == 0)
  }

  @Test func nothingIsGivenBackOnceItIsUsed() throws {
    let encoder = try BareEncoder(.vp8, width: 640, height: 368, givesBack: false)
    _ = try encoder.encode([Pictures.make(640, 368, index: 0)])
    #expect(encoder.giveBack(VPXCodec.vp8.tokenCount(width: 640, height: 368)) == 0)
  }

  @Test func vp8EncodersTakeLessThanTheirTokensWould() async {
    await #expect(processExitsWith: .success) {
      try Self.expectSmall(VP8CodecFactory(), .vp8)
    }
  }

  @Test func vp9EncodersTakeLessThanTheirTokensWould() async {
    await #expect(processExitsWith: .success) {
      try Self.expectSmall(VP9CodecFactory(), .vp9)
    }
  }

  /// In a process that does nothing else. The second one of a size may get its memory from elsewhere: glibc maps blocks one by one until
  /// it has seen one of that size come back.
  private static func expectSmall(_ factory: some VideoCodecFactory, _ codec: VPXCodec) throws {
    for (width, height) in [(1280, 720), (1280, 720), (1920, 1080)] {
      let before = try privateBytes()
      let encoder = try factory.makeEncoder(VideoEncoderSettings(width: width, height: height))
      let taken = try withExtendedLifetime(encoder) { try privateBytes() - before }
      let tokens = codec.tokenCount(width: width, height: height) * tokenBytes
      #expect(taken > 0 && taken < tokens, "\(taken) of \(tokens) bytes at \(width)x\(height)")
    }
  }

  /// What this process alone holds of the machine's memory.
  private static func privateBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Private_Dirty:") })
    return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) << 10
  }
}
