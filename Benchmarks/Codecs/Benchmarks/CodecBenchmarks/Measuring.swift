import CSoraMallocCount
import Foundation
import SoraCapture
import SoraCodecs
import SoraMedia

/// One side of a row: ours or the tool's.
struct Figures: Codable {
  /// Frames a second of the encoder's or decoder's own time.
  var fps: Double
  /// Processor time a frame, milliseconds; a tool's includes reading and writing its files.
  var cpuMilliseconds: Double
  var peakMegabytes: Double
  var kilobitsPerSecond: Double?
  var psnr: Double?
  /// Heap allocations a frame on our side of the library, in the second half: pools are filled by then.
  var allocations: Double?
}

enum Measuring {
  /// Encodes the clip with our module, at the peer's speed where none is given.
  static func encode(_ peer: Peer, _ clip: Clip, speed: Int? = nil) throws -> (
    Figures, [EncodedFrame]
  ) {
    for library in peer.libraries { _ = sora_malloc_exclude(library) }
    Usage.resetPeak()
    let resident = Usage.residentBytes
    let encoder = try peer.encoder.makeEncoder(
      VideoEncoderSettings(
        width: clip.size.width, height: clip.size.height, framesPerSecond: Clip.framesPerSecond,
        targetBitsPerSecond: clip.size.bitsPerSecond, threads: 1, allowsFrameDropping: false,
        speed: speed ?? peer.speed(clip.size), bitDepth: peer.bitDepth))
    var frames: [EncodedFrame] = []
    frames.reserveCapacity(clip.frames.count)
    var allocations: UInt64 = 0
    var meter = Meter()
    let pool = PixelBufferPool()
    let depth = BitDepthConverter()
    for (index, original) in clip.frames.enumerated() {
      // In memory that was just written, as the tools have it after reading their file, which makes 10 bits of 8, too.
      let source = depth.convert(original.buffer, to: peer.bitDepth)
      let picture = pool.take(width: original.width, height: original.height, format: source.format)
      for plane in 0..<3 { picture.plane(plane).copy(from: source.plane(plane)) }
      let frame = RawVideoFrame(buffer: picture.buffer, timestamp: original.timestamp)
      let before = sora_malloc_count_of_own()
      meter.start()
      let encoded = try encoder.encode(
        frame, forceKeyFrame: false, rtpTimestamp: UInt32(index * 3_000))
      meter.stop()
      if index >= clip.frames.count / 2 { allocations += sora_malloc_count_of_own() - before }
      // Kept apart from the encoder's pool, as a network that is done with it does.
      if let encoded { frames.append(encoded.copied()) }
    }
    var figures = meter.figures(clip.frames.count, above: resident)
    figures.allocations = Double(allocations) / Double(max(1, clip.frames.count / 2))
    figures.kilobitsPerSecond = kilobits(frames)
    return (figures, frames)
  }

  /// Decodes frames with our module; with a clip, compares the pictures with it, outside of the time.
  static func decode(
    _ factory: any VideoCodecFactory, _ libraries: [String], _ frames: [EncodedFrame],
    against clip: Clip? = nil
  ) throws -> Figures {
    for library in libraries { _ = sora_malloc_exclude(library) }
    Usage.resetPeak()
    let resident = Usage.residentBytes
    let decoder = try factory.makeDecoder(VideoDecoderSettings(threads: 1))
    var quality: [Double] = []
    var allocations: UInt64 = 0
    var meter = Meter()
    for (index, frame) in frames.enumerated() {
      let before = sora_malloc_count_of_own()
      meter.start()
      let picture = try decoder.decode(frame)
      meter.stop()
      if index >= frames.count / 2 { allocations += sora_malloc_count_of_own() - before }
      if let clip, let picture, index < clip.frames.count,
        let psnr = PictureQuality.psnr(clip.frames[index].buffer, picture.buffer)
      {
        quality.append(psnr)
      }
    }
    var figures = meter.figures(frames.count, above: resident)
    figures.allocations = Double(allocations) / Double(max(1, frames.count / 2))
    if !quality.isEmpty { figures.psnr = quality.reduce(0, +) / Double(quality.count) }
    return figures
  }

  /// Seconds that a bare copy of a picture of the clip's size takes, out of memory that changes from picture to picture
  /// as a decoder's does, into one that was just used.
  static func copySeconds(_ clip: Clip) -> Double {
    let pool = PixelBufferPool()
    let target = pool.take(width: clip.size.width, height: clip.size.height)
    let sources = (0..<4).map { clip.frames[$0 % clip.frames.count].buffer }
    var meter = Meter()
    let rounds = 200
    for round in 0..<rounds {
      meter.start()
      for plane in 0..<3 { target.plane(plane).copy(from: sources[round % 4].plane(plane)) }
      meter.stop()
    }
    return 1 / meter.figures(rounds, above: 0).fps
  }

  /// Runs a tool over a clip's or a stream's frames.
  static func tool(_ arguments: [String], frameCount: Int) throws -> Figures {
    let run = try ToolRun(arguments)
    let count = Double(frameCount)
    return Figures(
      fps: run.framesPerSecond(of: frameCount) ?? count / run.wallSeconds,
      cpuMilliseconds: run.cpuSeconds / count * 1000, peakMegabytes: Double(run.peakBytes) / 1e6)
  }

  static func kilobits(_ frames: [EncodedFrame]) -> Double {
    let bytes = frames.reduce(0) { $0 + $1.payload.count }
    return Double(bytes) * 8 * Clip.framesPerSecond / Double(max(1, frames.count)) / 1000
  }
}

extension Figures {
  /// The same with something more to do for each frame.
  func slowed(by seconds: Double) -> Figures {
    var figures = self
    figures.fps = 1 / (1 / fps + seconds)
    figures.cpuMilliseconds += seconds * 1000
    return figures
  }
}

/// Adds up the time of single calls.
struct Meter {
  private var wall = Duration.zero
  private var cpu = 0.0
  private var wallStart = ContinuousClock.now
  private var cpuStart = 0.0

  mutating func start() {
    cpuStart = Usage.cpuSeconds
    wallStart = .now
  }

  mutating func stop() {
    wall += .now - wallStart
    cpu += Usage.cpuSeconds - cpuStart
  }

  func figures(_ frameCount: Int, above resident: Int) -> Figures {
    let count = Double(max(1, frameCount))
    return Figures(
      fps: count / wall.seconds, cpuMilliseconds: cpu / count * 1000,
      peakMegabytes: Double(Usage.peakBytes - resident) / 1e6)
  }
}

extension EncodedFrame {
  fileprivate func copied() -> EncodedFrame {
    var copy = self
    copy.payload = EncodedBuffer(payload.bytes)
    return copy
  }
}
