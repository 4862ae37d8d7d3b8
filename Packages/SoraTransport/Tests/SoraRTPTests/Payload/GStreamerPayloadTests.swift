import Foundation
import SoraMedia
import SoraRTP
import Testing

/// GStreamer's payloaders and depayloaders for H.264 and H.265 as the other end, over files of framed packets (RFC 4571), with
/// streams of x264 and x265. Skipped where the tools aren't installed.
@Suite(
  .enabled(
    if: GStreamer.isInstalled,
    "gst-launch-1.0 with rtph264pay, rtph265pay and h265parse, and ffmpeg with libx264 and libx265")
)
struct GStreamerPayloadTests {
  @Test(arguments: NALCodec.allCases, [300, 1200])
  func itsPacketsAreUnderstood(codec: NALCodec, mtu: Int) throws {
    try GStreamer.inFolder { tools in
      let stream = try tools.encode(codec)
      for aggregation in 0...2 {
        let packets = try tools.pay(codec, mtu: mtu, aggregation: aggregation)
        // Some packets change places, and some come twice.
        let random = RandomSource(seed: UInt64(mtu))
        var order = packets
        for index in order.indices.dropLast(3).dropFirst(8) where random.next() % 4 == 0 {
          order.swapAt(index, index + 1 + Int(random.next() % 3))
        }
        for index in order.indices.reversed() where random.next() % 10 == 0 {
          order.insert(order[index], at: index)
        }
        let buffer = VideoJitterBuffer.of(codec.format)
        var frames: [EncodedFrame] = []
        for bytes in order {
          try withBytes(bytes) { bytes in
            let header = try RTPHeader(parsing: bytes)
            buffer.insert(header, payload: header.payload(in: bytes), at: .zero)
          }
          while let frame = buffer.nextFrame(at: .zero) { frames.append(frame) }
        }
        frames += buffer.frames(from: 1, until: 10_000)
        #expect(frames.count == stream.count)
        for (frame, sent) in zip(frames, stream) {
          #expect(nalUnits(frame.payload.bytes) == sent)
          #expect(frame.isKeyFrame == sent.contains { codec.isRandomAccess($0) })
        }
        #expect(frames.count { $0.isKeyFrame } == 3)
        #expect(buffer.statistics.packetsDiscarded.malformed == 0)
      }
    }
  }

  @Test(arguments: NALCodec.allCases, [200, 600, 1200, 1480])
  func itUnderstandsOurPackets(codec: NALCodec, maximum: Int) throws {
    try GStreamer.inFolder { tools in
      let stream = try tools.encode(codec)
      var packetizer = NALPacketizer(codec.format, maximumPayload: maximum)
      var packets: [[UInt8]] = []
      for units in stream {
        for packet in packetizer.frame(units) {
          packets.append(try rtpPacket(packet.header, payload: packet.payload))
        }
      }
      #expect(try tools.depay(codec, packets) == stream.flatMap { $0 })
    }
  }

  @Test func itUnderstandsPacketsOfSingleUnits() throws {
    try GStreamer.inFolder { tools in
      let stream = try tools.encode(.h264, sliceBytes: 700)
      var packetizer = NALPacketizer(
        H264PayloadFormat(packetizationMode: .singleUnit), maximumPayload: 1000)
      var packets: [[UInt8]] = []
      for units in stream {
        for packet in packetizer.frame(units) {
          packets.append(try rtpPacket(packet.header, payload: packet.payload))
        }
      }
      #expect(packets.count == stream.reduce(0) { $0 + $1.count })
      #expect(try tools.depay(.h264, packets) == stream.flatMap { $0 })
    }
  }
}

extension NALCodec {
  fileprivate func isRandomAccess(_ unit: [UInt8]) -> Bool {
    self == .h264 ? unit[0] & 0x1F == 5 : (16...23).contains(unit[0] >> 1 & 0x3F)
  }

  fileprivate func isPicture(_ unit: [UInt8]) -> Bool {
    self == .h264 ? (1...5).contains(unit[0] & 0x1F) : unit[0] >> 1 & 0x3F < 32
  }

  fileprivate func isFirstSlice(_ unit: [UInt8]) -> Bool {
    isPicture(unit) && unit[headerCount] & 0x80 != 0
  }
}

/// The tools, and a folder for their files.
private struct GStreamer {
  let folder: URL

  static let isInstalled: Bool = {
    guard tool("gst-inspect-1.0") != nil, tool("gst-launch-1.0") != nil, tool("ffmpeg") != nil
    else {
      return false
    }
    let elements = [
      "rtph264pay", "rtph265pay", "rtph264depay", "rtph265depay", "h264parse", "h265parse",
      "rtpstreampay", "rtpstreamdepay", "matroskademux",
    ]
    return elements.allSatisfy { (try? run("gst-inspect-1.0", ["--exists", $0])) == 0 }
  }()

  static func inFolder(_ body: (GStreamer) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "rtp-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(GStreamer(folder: folder))
  }

  /// The units of 30 pictures in three groups, frame by frame; also in the file `stream`. Pictures have slices, so that there
  /// are small units to put together.
  func encode(_ codec: NALCodec, sliceBytes: Int? = nil) throws -> [[[UInt8]]] {
    let limit = sliceBytes.map { ":slice-max-size=\($0)" } ?? ""
    let parameters =
      switch codec {
      case .h264:
        ["libx264", "-x264-params", "keyint=10:scenecut=0:bframes=0:slices=3:log=-1\(limit)"]
      case .h265:
        ["libx265", "-x265-params", "keyint=10:scenecut=0:bframes=0:slices=2:log-level=none"]
      }
    try expectSuccess(
      "ffmpeg",
      [
        "-loglevel", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=320x256:r=30:d=1", "-pix_fmt",
        "yuv420p", "-preset", "ultrafast", "-c:v",
      ] + parameters + ["-f", codec == .h264 ? "h264" : "hevc", path("stream")])
    // The payloader takes its timestamps from a container.
    try expectSuccess(
      "ffmpeg",
      [
        "-loglevel", "error", "-y", "-fflags", "+genpts", "-r", "30", "-i", path("stream"), "-c",
        "copy",
        path("stream.mkv"),
      ])
    var frames: [[[UInt8]]] = []
    var hasPicture = true
    for unit in nalUnits(try Data(contentsOf: folder.appending(path: "stream"))) {
      // The first slice of a picture, or what comes in front of it, begins the next frame.
      if hasPicture, !codec.isPicture(unit) || codec.isFirstSlice(unit) {
        frames.append([])
        hasPicture = false
      }
      frames[frames.count - 1].append(unit)
      hasPicture = hasPicture || codec.isPicture(unit)
    }
    #expect(frames.count == 30)
    return frames
  }

  /// The file `stream` in packets; `aggregation` is how units are put together: not at all, up to each picture, or all of one
  /// timestamp.
  func pay(_ codec: NALCodec, mtu: Int, aggregation: Int) throws -> [[UInt8]] {
    try expectSuccess(
      "gst-launch-1.0",
      [
        "-q", "filesrc", "location=\(path("stream.mkv"))", "!", "matroskademux", "!",
        "\(codec.rawValue)parse", "!",
        "rtp\(codec.rawValue)pay", "mtu=\(mtu)", "pt=96", "aggregate-mode=\(aggregation)", "!",
        "rtpstreampay", "!", "filesink", "location=\(path("packets"))",
      ])
    let bytes = [UInt8](try Data(contentsOf: folder.appending(path: "packets")))
    var packets: [[UInt8]] = []
    var offset = 0
    while offset + 2 <= bytes.count {
      let size = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
      guard size <= bytes.count - offset - 2 else { break }
      packets.append(Array(bytes[offset + 2..<offset + 2 + size]))
      offset += 2 + size
    }
    #expect(offset == bytes.count && packets.allSatisfy { $0.count <= mtu })
    return packets
  }

  /// The units that come out of packets.
  func depay(_ codec: NALCodec, _ packets: [[UInt8]]) throws -> [[UInt8]] {
    var bytes = Data()
    for packet in packets {
      bytes.append(contentsOf: [UInt8(packet.count >> 8), UInt8(packet.count & 0xFF)])
      bytes.append(contentsOf: packet)
    }
    try bytes.write(to: folder.appending(path: "ours"))
    let name = codec.rawValue.uppercased()
    try expectSuccess(
      "gst-launch-1.0",
      [
        "-q", "filesrc", "location=\(path("ours"))", "!",
        "application/x-rtp-stream,media=video,clock-rate=90000,encoding-name=\(name),payload=96",
        "!",
        "rtpstreamdepay", "!", "rtp\(codec.rawValue)depay", "!",
        "video/x-\(codec.rawValue),stream-format=byte-stream,alignment=nal", "!", "filesink",
        "location=\(path("units"))",
      ])
    return nalUnits(try Data(contentsOf: folder.appending(path: "units")))
  }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  private func expectSuccess(_ name: String, _ arguments: [String]) throws {
    #expect(try Self.run(name, arguments) == 0, "\(name) \(arguments.joined(separator: " "))")
  }

  private static func tool(_ name: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").map { "\($0)/\(name)" }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }

  /// Runs a tool to its end and returns its exit status.
  private static func run(_ name: String, _ arguments: [String]) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(tool(name)))
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
