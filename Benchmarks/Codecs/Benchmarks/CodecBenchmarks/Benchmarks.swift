import Benchmark
import Foundation
import SoraCodecs
import SoraMedia

/// A line of the table, one a round: `Benchmarks/codecs.py` takes the medians.
struct Row: Codable {
  var codec: String
  var way: String
  var scene: String
  var size: String
  var tool: String
  var ours: Figures
  var theirs: Figures?
}

/// What is measured, from the environment: SORA_BENCH_SIZES, _SCENES, _CODECS (names, by spaces), _FRAMES, _ROUNDS; with
/// _SPEEDS, the speeds of codecs that change it while they run.
struct Plan: Sendable {
  var sizes: [ClipSize]
  var scenes: [Scene]
  var codecs: [String]
  var frameCount: Int
  var rounds: Int
  var folder: String
  var measuresSpeeds: Bool

  init(_ environment: [String: String]) {
    func words(_ name: String) -> [String]? {
      environment["SORA_BENCH_\(name)"].map {
        $0.lowercased().split(separator: " ").map(String.init)
      }
    }
    sizes = ClipSize.all.filter { words("SIZES")?.contains($0.name) ?? true }
    scenes = Scene.allCases.filter { words("SCENES")?.contains($0.rawValue) ?? true }
    codecs = words("CODECS") ?? []
    frameCount = words("FRAMES")?.first.flatMap { Int($0) } ?? 60
    rounds = words("ROUNDS")?.first.flatMap { Int($0) } ?? 3
    measuresSpeeds = environment["SORA_BENCH_SPEEDS"] != nil
    folder = environment["SORA_BENCH_FOLDER"] ?? FileManager.default.temporaryDirectory.path
  }
}

/// Appends rows to `rows.jsonl` in the plan's folder.
func report(_ row: Row, _ plan: Plan) throws {
  let path = "\(plan.folder)/rows.jsonl"
  if !FileManager.default.fileExists(atPath: path) {
    _ = FileManager.default.createFile(atPath: path, contents: nil)
  }
  let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  defer { try? handle.close() }
  try handle.seekToEnd()
  try handle.write(contentsOf: JSONEncoder().encode(row) + Data("\n".utf8))
}

extension Benchmark {
  /// A row in thousandths: histograms hold whole numbers.
  func record(_ row: Row) {
    measurement(.custom("frames/s"), Int(row.ours.fps))
    measurement(.custom("CPU us/frame"), Int(row.ours.cpuMilliseconds * 1000))
    if let theirs = row.theirs {
      measurement(.custom("tool's frames/s"), Int(theirs.fps))
      measurement(.custom("permille of the tool's frames/s"), Int(1000 * row.ours.fps / theirs.fps))
    }
  }
}

/// The clip that was made last: one at a time is in memory.
final class ClipShelf: @unchecked Sendable {
  // @unchecked: benchmarks run one after another, on one thread.
  private var clip: Clip?

  func take(_ scene: Scene, _ size: ClipSize, _ plan: Plan) throws -> Clip {
    if let clip, clip.scene == scene, clip.size == size { return clip }
    clip = nil
    let made = try Clip(scene, size, frameCount: plan.frameCount, folder: plan.folder)
    clip = made
    return made
  }
}

let benchmarks: @Sendable () -> Void = {
  let plan = Plan(ProcessInfo.processInfo.environment)
  let shelf = ClipShelf()
  let configuration = Benchmark.Configuration(
    metrics: [
      .custom("frames/s", polarity: .prefersLarger), .custom("CPU us/frame"),
      .custom("tool's frames/s", polarity: .prefersLarger),
      .custom("permille of the tool's frames/s", polarity: .prefersLarger),
    ],
    warmupIterations: 0, maxDuration: .seconds(600), maxIterations: plan.rounds)
  if !plan.measuresSpeeds, plan.codecs.isEmpty || plan.codecs.contains("opus") {
    Benchmark("opus", configuration: configuration) { benchmark in
      do {
        try OpusRow.measure(plan) { benchmark.record($0) }
      } catch {
        fail(benchmark, error)
      }
    }
  }
  for size in plan.sizes {
    for scene in plan.scenes {
      for peer in Peer.all
      where (plan.codecs.isEmpty || plan.codecs.contains(peer.kind.rawValue))
        && !(plan.measuresSpeeds && peer.speeds.isEmpty)
      {
        Benchmark(
          "\(peer.kind) \(peer.label) \(scene.rawValue) \(size.name)", configuration: configuration
        ) { benchmark in
          do {
            let clip = try shelf.take(scene, size, plan)
            if plan.measuresSpeeds {
              try measureSpeeds(peer, clip, plan) { benchmark.record($0) }
            } else {
              try measure(peer, clip, plan) { benchmark.record($0) }
            }
          } catch {
            fail(benchmark, error)
          }
        }
      }
    }
  }
}

/// Says on standard error what ended a benchmark: the package's own message is lost with `--quiet`.
private func fail(_ benchmark: Benchmark, _ error: any Error) {
  FileHandle.standardError.write(Data("\(benchmark.name): \(error)\n".utf8))
  benchmark.error("\(error)")
}

/// One round of one peer and clip at each of its speeds. The tool gets the bit rate that ours has come to, so that the
/// qualities compare.
func measureSpeeds(_ peer: Peer, _ clip: Clip, _ plan: Plan, _ note: (Row) -> Void) throws {
  func psnr(_ frames: [EncodedFrame]) throws -> Double? {
    try Measuring.decode(peer.decoders[0].factory, peer.libraries, frames, against: clip).psnr
  }
  for speed in peer.speeds {
    var (ours, frames) = try Measuring.encode(peer, clip, speed: speed)
    ours.psnr = try psnr(frames)
    let stream = "\(plan.folder)/speed.\(peer.fileExtension)"
    var bits = ours.kilobitsPerSecond.map { $0 * 1000 } ?? Double(clip.size.bitsPerSecond)
    let wanted = bits
    var arguments: [String] = []
    var theirs = ours
    // What it comes to the first time says what to ask for.
    for _ in 0..<2 {
      arguments = peer.encode(Clip(clip, bitsPerSecond: Int(bits)), speed, stream)
      theirs = try Measuring.tool(arguments, frameCount: clip.frames.count)
      let made = try StreamFile.read(stream, peer.kind)
      let kilobits = Measuring.kilobits(made)
      theirs.kilobitsPerSecond = kilobits
      theirs.psnr = try psnr(made)
      bits *= wanted / (kilobits * 1000)
    }
    let row = Row(
      codec: peer.kind.encodingName, way: "speed \(speed)", scene: clip.scene.rawValue,
      size: clip.size.name, tool: peer.speedName(speed), ours: ours, theirs: theirs)
    note(row)
    try report(row, plan)
  }
}

/// One round of one peer and clip: ours and the tool's, one right after the other.
func measure(_ peer: Peer, _ clip: Clip, _ plan: Plan, _ note: (Row) -> Void) throws {
  let base =
    "\(plan.folder)/\(peer.kind.rawValue)-\(peer.bitDepth)-\(clip.scene.rawValue)-\(clip.size.name)"
  let stream = "\(base).\(peer.fileExtension)"
  func row(_ way: String, _ tool: String, _ ours: Figures, _ theirs: Figures) throws {
    let row = Row(
      codec: peer.name, way: way, scene: clip.scene.rawValue, size: clip.size.name,
      tool: tool, ours: ours, theirs: theirs)
    note(row)
    try report(row, plan)
  }
  func psnr(_ frames: [EncodedFrame]) throws -> Double? {
    try Measuring.decode(peer.decoders[0].factory, peer.libraries, frames, against: clip).psnr
  }
  /// Adds rate and quality of what a tool has encoded.
  func complete(_ figures: inout Figures, _ path: String) throws {
    let frames = try StreamFile.read(path, peer.kind)
    figures.kilobitsPerSecond = Measuring.kilobits(frames)
    figures.psnr = try psnr(frames)
  }

  var (ours, frames) = try Measuring.encode(peer, clip)
  ours.psnr = try psnr(frames)
  let arguments = peer.encode(clip, peer.speed(clip.size), stream)
  var theirs = try Measuring.tool(arguments, frameCount: clip.frames.count)
  try complete(&theirs, stream)
  try row("encode", arguments[0], ours, theirs)
  if clip.size.name == "720p", clip.scene == .noise {
    let file = "\(base)-defaults.\(peer.fileExtension)"
    let arguments = peer.encodeWithDefaults(clip, file)
    var theirs = try Measuring.tool(arguments, frameCount: clip.frames.count)
    try complete(&theirs, file)
    try row("encode, tool's defaults", arguments[0], ours, theirs)
  }
  // The stream is the tool's own, so that both decode what neither of ours has made.
  let foreign = try StreamFile.read(stream, peer.kind)
  for decoder in peer.decoders {
    let arguments = decoder.tool(stream)
    let way = "decode, \(decoder.factory.capability.implementation)"
    let ours = try Measuring.decode(decoder.factory, peer.libraries, foreign)
    let theirs = try Measuring.tool(arguments, frameCount: foreign.count)
    try row(way, arguments[0], ours, theirs)
    if decoder.copiesPictures {
      try row(way, "\(arguments[0]) + copy", ours, theirs.slowed(by: Measuring.copySeconds(clip)))
    }
  }
}
