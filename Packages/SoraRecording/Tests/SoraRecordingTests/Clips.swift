import Foundation
import SoraAV1
import SoraAVCodec
import SoraCapture
import SoraCodecs
import SoraMedia
import SoraOpenH264
import SoraRecording
import SoraVP8
import SoraVP9
import SoraX265

/// Streams as a call's receiver gives them.
enum Clips {
  static func factory(_ kind: VideoCodecKind) -> any VideoCodecFactory {
    switch kind {
    case .vp8: VP8CodecFactory()
    case .vp9: VP9CodecFactory()
    case .av1: AV1CodecFactory()
    case .h264: OpenH264CodecFactory()
    case .h265: X265EncoderFactory()
    }
  }

  static func decoder(_ kind: VideoCodecKind) throws -> any VideoDecoder {
    switch kind {
    case .h264: try AVCodecDecoder(.h264)
    case .h265: try AVCodecDecoder(.h265)
    case .vp8, .vp9, .av1: try factory(kind).makeDecoder(VideoDecoderSettings())
    }
  }

  /// The test pattern at 30 frames per second, in the sizes that are given, one after the other.
  static func video(
    _ kind: VideoCodecKind, frames: Int, sizes: [(Int, Int)] = [(160, 96)], keyFrameEvery: Int = 15,
    colorSpace: VideoColorSpace? = nil
  ) throws -> [EncodedTrackFrame] {
    let encoder = try factory(kind).makeEncoder(
      VideoEncoderSettings(
        width: sizes[0].0, height: sizes[0].1, targetBitsPerSecond: 300_000, threads: 1,
        allowsFrameDropping: false))
    var made: [EncodedTrackFrame] = []
    for index in 0..<frames {
      let size = sizes[index * sizes.count / frames]
      let picture = TestPattern(width: size.0, height: size.1)
        .frame(index: UInt32(index), milliseconds: 0)
      let time = Instant.zero + .milliseconds(index * 1_000 / 30)
      let frame = try encoder.encode(
        RawVideoFrame(buffer: picture, timestamp: time, colorSpace: colorSpace),
        forceKeyFrame: index % keyFrameEvery == 0,
        rtpTimestamp: UInt32(index * 3_000))
      if let frame {
        made.append(EncodedTrackFrame(codec: .video(kind), frame: frame, receiveTime: time))
      }
    }
    return made
  }

  /// How long after its capture a packet is there: when its last sample is.
  static let packetLength = Duration.milliseconds(20)

  /// Packets of 20 ms in which nothing is to be heard; a player plays number `n` at `n` times 20 ms.
  static func audio(packets: Int, from start: Int = 0) -> [EncodedTrackFrame] {
    (start..<start + packets).map { index in
      let time =
        Instant.zero + .milliseconds(index * 20) + OpusTime.decodingDelay + packetLength
      return EncodedTrackFrame(
        codec: .opus,
        frame: EncodedFrame(
          payload: EncodedBuffer([0xFC, 0xFF, 0xFE]), isKeyFrame: true,
          rtpTimestamp: UInt32(index * 960), timestamp: time), receiveTime: time)
    }
  }

  /// Frames of several tracks in the order in which they come.
  static func together(_ tracks: [EncodedTrackFrame]...) -> [EncodedTrackFrame] {
    // A stable order for what comes at one time.
    tracks.joined().enumerated().sorted {
      ($0.element.receiveTime, $0.offset) < ($1.element.receiveTime, $1.offset)
    }.map(\.element)
  }
}

/// A folder that a test's files lie in, and that goes with it.
final class Folder {
  let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("sora-recording-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

/// What ffprobe says of a file once it has decoded all of it.
struct ProbedFile {
  struct Packet: Decodable {
    var stream_index: Int
    var pts_time: String?
    var flags: String
    var time: Double { Double(pts_time ?? "") ?? -1 }
  }
  struct Stream: Decodable {
    var index: Int
    var codec_name: String
    var codec_type: String
    var width: Int?
    var height: Int?
    var nb_read_frames: String?
    var nb_read_packets: String?
    var color_space: String?
    var color_range: String?
    var frames: Int { Int(nb_read_frames ?? "") ?? 0 }
  }
  private struct Format: Decodable {
    var duration: String?
    var format_name: String
  }
  private struct Answer: Decodable {
    var packets: [Packet]
    var streams: [Stream]
    var format: Format
  }

  var video: Stream? { streams.first { $0.codec_type == "video" } }
  var audio: Stream? { streams.first { $0.codec_type == "audio" } }
  let streams: [Stream]
  let packets: [Packet]
  let duration: Double
  /// What the decoders complained of.
  let complaints: String

  init(_ path: String) throws {
    let (output, errors) = try Self.run([
      "ffprobe", "-v", "error", "-count_frames", "-count_packets", "-show_streams", "-show_packets",
      "-show_format", "-of", "json", path,
    ])
    let answer = try JSONDecoder().decode(Answer.self, from: output)
    streams = answer.streams
    packets = answer.packets
    duration = Double(answer.format.duration ?? "") ?? 0
    complaints = errors
  }

  /// Times of a track in seconds.
  func times(_ stream: Stream?) -> [Double] {
    packets.filter { $0.stream_index == stream?.index }.map(\.time)
  }

  /// Runs a program. Its errors are short.
  static func run(_ command: [String]) throws -> (output: Data, errors: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    let (output, errors) = (Pipe(), Pipe())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let complaints = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (text, String(decoding: complaints, as: UTF8.self))
  }

  static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffprobe")
}
