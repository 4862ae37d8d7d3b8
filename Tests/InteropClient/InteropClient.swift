import Foundation
import SoraClock
import SoraCommandSupport
import SoraMedia
import SoraSDK
import Synchronization
import WebRTC

/// A small client of the SDK for tests with other peers: it joins a channel, sends the test pattern and the tone where
/// its role sends, tells what happens in JSON lines, and leaves when its standard input ends.
///
/// `InteropClient URL CHANNEL sendonly|recvonly|sendrecv`. The line `report` on standard input asks for what came of
/// each stream so far, `keys` for a line for each key of a telephone that comes on the present ones from then on.
@main
struct InteropClient {
  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let url = URL(string: arguments[1]),
      let role = ["sendonly": Role.sendonly, "recvonly": .recvonly, "sendrecv": .sendrecv][
        arguments[3]]
    else {
      FileHandle.standardError.write(Data("usage: InteropClient URL CHANNEL ROLE\n".utf8))
      exit(2)
    }
    Logger.shared.printsToStandardError = false
    var configuration = SoraSDK.Configuration(url: url, channelId: arguments[2], role: role)
    configuration.videoCodec = .vp8
    // Frames are this program's own.
    configuration.cameraSettings.isEnabled = false
    do {
      try await InteropSession(configuration).run()
    } catch {
      JSONLines.write(["type": "failed", "error": "\(error)"])
      exit(1)
    }
  }
}

/// One connection and what came over it.
private final class InteropSession: Sendable {
  private let configuration: UncheckedConfiguration
  private let streams = Mutex<[String: StreamMeter]>([:])

  init(_ configuration: SoraSDK.Configuration) {
    self.configuration = UncheckedConfiguration(value: configuration)
  }

  func run() async throws {
    let handlers = configuration.value.mediaChannelHandlers
    // Handlers and not `events`: what the server tells before the connection stands counts, too.
    handlers.onAddStream = { [self] stream in added(stream) }
    handlers.onRemoveStream = { stream in
      JSONLines.write(["type": "removed", "streamId": stream.streamId])
    }
    handlers.onReceiveSignaling = { message in
      guard case .notify(let event) = message else { return }
      JSONLines.write([
        "type": "notify", "event_type": event.eventType,
        "connection_id": event.connectionId ?? "", "role": event.role.map { "\($0)" } ?? "",
        "channel_connections": event.connectionCount ?? -1,
        "channel_sendrecv_connections": event.channelSendrecvConnections ?? -1,
        "channel_sendonly_connections": event.channelSendonlyConnections ?? -1,
        "channel_recvonly_connections": event.channelRecvonlyConnections ?? -1,
        "data": (event.data ?? []).map { ["connection_id": $0.connectionId ?? ""] },
      ])
    }
    let ended = AsyncStream.makeStream(of: Void.self)
    handlers.onDisconnect = { error in
      JSONLines.write(["type": "disconnected", "error": error.map { "\($0)" } ?? ""])
      ended.continuation.finish()
    }
    let channel = try await Sora.shared.connect(configuration: configuration.value)
    JSONLines.write([
      "type": "connected", "connectionId": channel.connectionId ?? "",
      "channel_connections": channel.connectionCount ?? -1,
    ])
    let inputs = try Inputs()
    if let stream = channel.senderStream { inputs.start(stream) }
    await serveRequests(channel)
    inputs.stop()
    if channel.isAvailable { channel.disconnect(error: nil) }
    for await _ in ended.stream {}
  }

  private func added(_ stream: any MediaStream) {
    guard stream.streamId != configuration.value.publisherStreamId else { return }
    let meter = streams.withLock { streams in
      let meter = StreamMeter()
      streams[stream.streamId] = meter
      return meter
    }
    stream.addVideoSink(meter)
    stream.addAudioSink(meter)
    JSONLines.write(["type": "added", "streamId": stream.streamId])
  }

  /// Until standard input ends.
  private func serveRequests(_ channel: MediaChannel) async {
    for await line in JSONLines.input() {
      switch line {
      case "report": await report(channel)
      case "keys": tellKeys(channel)
      default: break
      }
    }
  }

  private func tellKeys(_ channel: MediaChannel) {
    let tracks = channel.native?.receivers.compactMap { $0.track as? RTCAudioTrack } ?? []
    for track in tracks {
      track.onDtmf = { event in
        guard event.isEnd else { return }
        JSONLines.write(["type": "key", "tone": event.tone.map(String.init) ?? ""])
      }
    }
    JSONLines.write(["type": "listening", "tracks": tracks.count])
  }

  private func report(_ channel: MediaChannel) async {
    let received = streams.withLock { streams in
      streams.mapValues { meter in
        let video = meter.video.snapshot
        let audio = meter.audio.snapshot
        return [
          "frames": video.frames, "stamped": video.stamps.stamped, "missing": video.stamps.missing,
          "width": video.width, "height": video.height, "audioSeconds": audio.seconds,
          "levelDb": audio.levelDb() ?? -999,
        ] as [String: Any]
      }
    }
    JSONLines.write([
      "type": "report", "streams": received,
      "transport": await channel.statistics().entries.filter { $0.type == "transport" }.map {
        $0.values
      },
    ])
  }
}

private struct UncheckedConfiguration: @unchecked Sendable {
  // @unchecked: made once and only read; it isn't Sendable only because metadata may be anything.
  let value: SoraSDK.Configuration
}

/// What came of one stream.
private final class StreamMeter: VideoSink, AudioSink {
  let video = VideoMeter(measuresQuality: false)
  let audio = AudioMeter()

  func receive(_ frame: RawVideoFrame) {
    video.add(
      frame, at: SystemClock.now, realtimeMilliseconds: SystemClock.realtimeMilliseconds)
  }

  func receive(_ frame: AudioFrame) { audio.add(frame, at: SystemClock.now) }
}

/// The test pattern, small because three clients share the machine, and the tone.
private struct Inputs {
  private let video: VideoInput?
  private let audio: AudioInput?

  init() throws {
    video = try VideoInput(
      .testPattern, resolution: Resolution(width: 320, height: 180), framesPerSecond: 15)
    audio = try AudioInput(.tone, framesPerSecond: 15)
  }

  func start(_ stream: any MediaStream) {
    let start = SystemClock.now
    video?.start(at: start) { stream.send(videoFrame: VideoFrame($0)) }
    audio?.start(at: start) { stream.send(audioFrame: $0) }
  }

  func stop() {
    video?.stop()
    audio?.stop()
  }
}
