import Foundation
import TestPrograms

/// Some spoken sentences, said again and again, at 48 kHz.
struct Speech {
  static let isInstalled = ["espeak-ng", "ffmpeg"].allSatisfy { TestPrograms.isInstalled($0) }
  static let requirement = "needs Debian's espeak-ng and ffmpeg"

  private let samples: [Int16]

  init(_ text: String) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-speech-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (spoken, file) = (
      folder.appendingPathComponent("spoken.wav"), folder.appendingPathComponent("spoken.raw")
    )
    for command in [
      ["espeak-ng", "-w", spoken.path, text],
      [
        "ffmpeg", "-loglevel", "error", "-i", spoken.path, "-ar", "48000", "-ac", "1", "-f",
        "s16le", file.path,
      ],
    ] {
      let process = try Process.run(URL(fileURLWithPath: "/usr/bin/env"), arguments: command)
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }
    let bytes = try Data(contentsOf: file)
    samples = stride(from: 0, to: bytes.count - 1, by: 2).map {
      Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
    }
  }

  /// - Parameter position: from 0 on; behind the end it begins again.
  subscript(position: Int) -> Int16 { samples[position % samples.count] }

  /// How the loudness of something heard follows that of the sentences: the correlation of both in blocks of 10 ms, over one time through them,
  /// at the shift at which it is highest. 1 is the same, noise has some 0.2.
  func likeness(to heard: [Int16]) -> Double {
    let spoken = Self.loudness(samples)
    let heard = Self.loudness(heard)
    guard heard.count > spoken.count else { return 0 }
    return (0...(heard.count - spoken.count)).map {
      Self.correlation(spoken, heard[$0..<($0 + spoken.count)])
    }.max() ?? 0
  }

  private static func loudness(_ samples: [Int16]) -> [Double] {
    stride(from: 0, to: samples.count - 479, by: 480).map { start in
      let power = samples[start..<(start + 480)].reduce(0) { $0 + Double($1) * Double($1) }
      return log10(1_000 + (power / 480).squareRoot())
    }
  }

  private static func correlation(_ a: [Double], _ b: ArraySlice<Double>) -> Double {
    let count = Double(a.count)
    let (meanA, meanB) = (a.reduce(0, +) / count, b.reduce(0, +) / count)
    var (product, powerA, powerB) = (0.0, 0.0, 0.0)
    for (x, y) in zip(a, b) {
      product += (x - meanA) * (y - meanB)
      powerA += (x - meanA) * (x - meanA)
      powerB += (y - meanB) * (y - meanB)
    }
    return powerA > 0 && powerB > 0 ? product / (powerA * powerB).squareRoot() : 0
  }
}
