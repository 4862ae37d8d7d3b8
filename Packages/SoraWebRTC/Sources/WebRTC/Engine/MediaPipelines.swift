import SoraAudio
import SoraCodecs
import SoraMedia
import SoraRTP
import SoraSDP
import SoraSimulcast
import SoraTransport
import Synchronization

/// The encoders and decoders of one peer connection, by transceiver. Confined to its network loop; the pipelines run on
/// queues of their own and come back through the closures given here.
final class MediaPipelines {
  /// What a pipeline needs from the connection. All may be called from any thread.
  struct Environment: Sendable {
    var registry: VideoCodecRegistry
    var playout: AudioPlayout
    /// As in `RTCSettings`.
    var audioRedundancy: Int?
    var now: @Sendable () -> Instant
    var sendVideo: @Sendable (SimulcastFrame, _ transceiverID: Int) -> Void
    var sendAudio: @Sendable (EncodedFrame, RTPAudioLevel?, _ transceiverID: Int) -> Void
    var needKeyFrame: @Sendable (_ transceiverID: Int) -> Void
    /// What a source gives that comes encoded and can't give less, in bits per second; 0 once it is encoded here.
    var sourceRate: @Sendable (Int, _ transceiverID: Int) -> Void
    /// An encoder or decoder can't start or go on, or what is sent is larger than receivers take. Told once for the same settings.
    var failed: @Sendable (MediaFailure, _ transceiverID: Int) -> Void
  }

  /// What an application wants of a transceiver, and the objects that its media come from and go to.
  private struct Endpoints {
    var sent: RTCMediaStreamTrack?
    var received: RTCMediaStreamTrack?
    var parameters = RTCRtpParameters()
    var jitterBufferTarget: Duration?
    /// Of the stream that is sent, by pipelines that are gone.
    var sentBefore: VideoSent?
  }
  /// What was counted of a stream of video. Another track is another pipeline, and the same stream.
  private struct VideoSent {
    var kind: VideoCodecKind
    var rids: [String?]
    var statistics: VideoSendStatistics
  }
  private struct VideoSending {
    var track: RTCVideoTrack
    /// The names of the layers in the sender's order.
    var rids: [String?]
    var sender: VideoTrackSender
  }
  private struct AudioSending {
    var track: RTCAudioTrack
    var settings: AudioSendPipeline.Settings
    var pipeline: AudioSendPipeline
    /// Of the receiver, that were looked at.
    var reports: UInt64 = 0
  }
  /// The payload types of redundant audio, and of what is in it.
  private struct RedundancyTypes {
    var red: UInt8
    var codec: UInt8
  }

  private let environment: Environment
  private var endpoints: [Int: Endpoints] = [:]
  private var videoSending: [Int: VideoSending] = [:]
  private var audioSending: [Int: AudioSending] = [:]
  private var videoReceiving: [Int: (codec: String, pipeline: VideoReceivePipeline)] = [:]
  private var audioReceiving: [Int: (codec: AudioCodecKind, pipeline: AudioReceivePipeline)] = [:]
  /// What payload types of audio mean, by transceiver.
  private var audioCodecs: [Int: [UInt8: AudioCodecKind]] = [:]
  private var redundancyTypes: [Int: RedundancyTypes] = [:]
  /// For those who take packets before they are decoded.
  private var redundantAudio: [Int: RedundantAudio] = [:]
  /// What audio jitter buffers that are gone didn't use.
  private var endedAudio = AudioDrops()
  /// Frames that came encoded and weren't sent, of tracks that aren't sent any more.
  private var endedEncoded = EncodedSendPipeline.Drops()
  /// Settings that no encoder could be made for, so that it is told once.
  private var refusedAudio: [Int: AudioSendPipeline.Settings] = [:]
  /// Transceivers whose audio decoder couldn't be made.
  private var refusedAudioDecoding: Set<Int> = []
  /// Video frames and audio packets that came for a transceiver without a track, or of a codec without a decoder.
  private var undecodable: UInt64 = 0
  /// What `setBitrate` said last, for pipelines that are yet to be made.
  private var bitrates: [Int: Int] = [:]

  init(environment: Environment) { self.environment = environment }

  // MARK: What the application wants; in force with the next `apply`

  /// Sets the delay of a transceiver's received media; nil for what their jitter asks for. `LipSync` applies it.
  func setJitterBufferTarget(_ target: Duration?, transceiverID: Int) {
    endpoints[transceiverID, default: Endpoints()].jitterBufferTarget = target
  }

  /// Sets what a transceiver sends; nil for nothing.
  func setSentTrack(_ track: RTCMediaStreamTrack?, transceiverID: Int) {
    endpoints[transceiverID, default: Endpoints()].sent = track
  }

  /// Sets where a transceiver's received media go.
  func setReceivedTrack(_ track: RTCMediaStreamTrack, transceiverID: Int) {
    endpoints[transceiverID, default: Endpoints()].received = track
  }

  /// Sets how a transceiver's track is encoded.
  func setParameters(_ parameters: RTCRtpParameters, transceiverID: Int) {
    endpoints[transceiverID, default: Endpoints()].parameters = parameters
  }

  /// Lets go of a transceiver that has stopped.
  func forget(transceiverID: Int) {
    endpoints[transceiverID] = nil
    refusedAudio[transceiverID] = nil
    refusedAudioDecoding.remove(transceiverID)
    bitrates[transceiverID] = nil
  }

  /// Makes pipelines for what was negotiated, and ends those that aren't wanted any more. Nothing is encoded before the
  /// transport is connected.
  func apply(_ media: [NegotiatedMedia], isConnected: Bool) {
    var videoIDs: Set<Int> = []
    var audioIDs: Set<Int> = []
    for section in media {
      guard let send = section.send, isConnected,
        let track = endpoints[section.transceiverID]?.sent
      else { continue }
      if let track = track as? RTCVideoTrack {
        videoIDs.insert(section.transceiverID)
        startVideo(track, send, section.transceiverID)
      } else if let track = track as? RTCAudioTrack {
        audioIDs.insert(section.transceiverID)
        startAudio(track, send, section.transceiverID)
      }
    }
    for id in videoSending.keys where !videoIDs.contains(id) { stopVideo(id) }
    for id in audioSending.keys where !audioIDs.contains(id) { stopAudio(id) }
    // One that is sent later is counted from its beginning.
    for section in media where section.send == nil {
      endpoints[section.transceiverID]?.sentBefore = nil
    }
    redundancyTypes = [:]
    audioCodecs = [:]
    for section in media where section.kind == .audio {
      audioCodecs[section.transceiverID] = section.receive?.audioCodecs
      guard let codecs = section.receive?.codecs, let codec = codecs.primary?.payloadType,
        let red = codecs.redundancy?.payloadType
      else { continue }
      redundancyTypes[section.transceiverID] = RedundancyTypes(red: red, codec: codec)
    }
    let receiving = Set(media.filter { $0.receive != nil }.map(\.transceiverID))
    redundantAudio = redundantAudio.filter { receiving.contains($0.key) }
    for id in videoReceiving.keys where !receiving.contains(id) {
      videoReceiving.removeValue(forKey: id)?.pipeline.stop()
    }
    for id in audioReceiving.keys where !receiving.contains(id) {
      stopReceivingAudio(id)
    }
  }

  func stopAll() { apply([], isConnected: false) }

  // MARK: Sending

  private func startVideo(_ track: RTCVideoTrack, _ send: SendParameters, _ id: Int) {
    guard let kind = VideoCodecKind(encodingName: send.codec.name) else { return stopVideo(id) }
    let configuration = VideoSendConfiguration(
      kind, send, endpoints[id]?.parameters ?? RTCRtpParameters(),
      modes: environment.registry.scalabilityModes(of: kind))
    let rids = send.encodings.map(\.rid)
    if let current = videoSending[id], current.track === track, current.sender.kind == kind,
      current.rids == rids
    {
      current.sender.update(configuration)
      return
    }
    stopVideo(id)
    let sendVideo = environment.sendVideo
    let failed = environment.failed
    let sourceRate = environment.sourceRate
    let sender = VideoTrackSender(
      track: track, configuration: configuration,
      bitrate: bitrates[id] ?? send.maximumBitrate ?? 1_000_000, registry: environment.registry,
      now: environment.now, sourceRate: { sourceRate($0, id) }, output: { sendVideo($0, id) },
      failed: { failed($0, id) })
    videoSending[id] = VideoSending(track: track, rids: rids, sender: sender)
    sender.start()
  }

  private func stopVideo(_ id: Int) {
    guard let sending = videoSending.removeValue(forKey: id) else { return }
    sending.sender.stop()
    endedEncoded = endedEncoded + sending.sender.drops
    var statistics = statistics(of: sending, id)
    statistics.limitation.end(at: environment.now())
    endpoints[id]?.sentBefore = VideoSent(
      kind: sending.sender.kind, rids: sending.rids, statistics: statistics)
  }

  /// With what was counted of its stream before.
  private func statistics(of sending: VideoSending, _ id: Int) -> VideoSendStatistics {
    let statistics = sending.sender.statistics
    guard let before = endpoints[id]?.sentBefore, before.kind == sending.sender.kind,
      before.rids == sending.rids
    else { return statistics }
    var sum = statistics.addingCounters(of: before.statistics)
    sum.limitation.add(before.statistics.limitation)
    return sum
  }

  private func startAudio(_ track: RTCAudioTrack, _ send: SendParameters, _ id: Int) {
    guard let codec = AudioCodecKind(encodingName: send.codec.name) else { return stopAudio(id) }
    let parameters = send.codec.parameters
    let settings = AudioSendPipeline.Settings(
      codec: codec, format: OpusFormatParameters { parameters[$0] },
      bitrateLimit: send.maximumBitrate,
      redundancy: send.redundancy?.copies(setting: environment.audioRedundancy) ?? 0,
      adaptsPacketTime: endpoints[id]?.parameters.encodings.first?.adaptivePtime ?? true)
    if let current = audioSending[id], current.track === track, current.settings == settings {
      return
    }
    stopAudio(id)
    let sendAudio = environment.sendAudio
    let pipeline: AudioSendPipeline
    do throws(AudioCodecError) {
      pipeline = try AudioSendPipeline(
        track: track, settings: settings, start: environment.now(),
        output: { sendAudio($0, $1, id) })
    } catch {
      if refusedAudio.updateValue(settings, forKey: id) != settings {
        environment.failed(.audioEncoder(error), id)
      }
      return
    }
    refusedAudio[id] = nil
    audioSending[id] = AudioSending(track: track, settings: settings, pipeline: pipeline)
    track.add(sink: pipeline)
  }

  private func stopAudio(_ id: Int) {
    guard let sending = audioSending.removeValue(forKey: id) else { return }
    sending.track.remove(sink: sending.pipeline)
    sending.pipeline.stop()
    endedAudio.add(sending.pipeline)
  }

  func requestKeyFrame(transceiverID: Int) {
    videoSending[transceiverID]?.sender.requestKeyFrame()
  }

  func setBitrate(_ bitsPerSecond: Int, transceiverID: Int) {
    bitrates[transceiverID] = bitsPerSecond
    videoSending[transceiverID]?.sender.setTargetBitrate(bitsPerSecond)
  }

  /// Fits a transceiver's audio to the network; about once a second.
  func setAudioNetwork(_ network: AudioNetworkState, transceiverID id: Int, at now: Instant) {
    guard let sending = audioSending[id] else { return }
    let isNew = network.reports != sending.reports
    audioSending[id]?.reports = network.reports
    sending.pipeline.setNetwork(
      OpusNetworkState(
        availableBitsPerSecond: network.availableBitsPerSecond, roundTrip: network.roundTrip,
        lossFraction: isNew ? network.lossFraction : nil), at: now)
  }

  // MARK: Receiving

  /// Where a transceiver's frames go before they are decoded; nil where nobody takes them.
  func encodedTap(transceiverID id: Int) -> EncodedTap? {
    guard let tap = endpoints[id]?.received?.encodedTap, tap.isUsed else { return nil }
    return tap
  }

  /// Whether a transceiver's packets of a payload type are Opus, which is what is taken encoded.
  func isOpus(_ payloadType: UInt8, transceiverID id: Int) -> Bool {
    (audioCodecs[id]?[payloadType] ?? .opus) == .opus
  }

  /// Copies of the Opus packets that a payload brings, each with its timestamp: itself, or what is new of those in it (RFC 2198).
  func opusPackets(
    in payload: UnsafeRawBufferPointer, _ header: RTPHeader, transceiverID id: Int
  ) -> [(timestamp: UInt32, packet: EncodedBuffer)] {
    guard let types = redundancyTypes[id], header.payloadType == types.red else {
      return unsafe [(header.timestamp, EncodedBuffer(payload))]
    }
    guard let blocks = unsafe try? REDPayload.Blocks(parsing: payload) else { return [] }
    return redundantAudio[id, default: RedundantAudio()]
      .packets(blocks, timestamp: header.timestamp, codec: types.codec)
      .map {
        unsafe (
          $0.rtpTimestamp, EncodedBuffer(UnsafeRawBufferPointer(rebasing: payload[$0.range]))
        )
      }
  }

  func decode(_ frame: EncodedFrame, codec: String, transceiverID id: Int) {
    if let current = videoReceiving[id], current.codec == codec {
      current.pipeline.decode(frame)
      return
    }
    videoReceiving.removeValue(forKey: id)?.pipeline.stop()
    guard let kind = VideoCodecKind(encodingName: codec),
      let track = endpoints[id]?.received as? RTCVideoTrack
    else {
      undecodable &+= 1
      return
    }
    let registry = environment.registry
    let needKeyFrame = environment.needKeyFrame
    let failed = environment.failed
    let pipeline = VideoReceivePipeline(
      now: environment.now,
      makeDecoder: { () throws(CodecError) in try registry.makeDecoder(kind) },
      needsKeyFrame: { needKeyFrame(id) },
      output: { track.source.push($0) },
      failed: { failed(.videoDecoder($0), id) })
    videoReceiving[id] = (codec, pipeline)
    pipeline.decode(frame)
  }

  func decode(
    _ payload: UnsafeRawBufferPointer, _ header: RTPHeader, transceiverID id: Int, at now: Instant
  ) {
    let codec = audioCodecs[id]?[header.payloadType] ?? .opus
    guard let pipeline = audioPipeline(id, codec) else {
      undecodable &+= 1
      return
    }
    if let types = redundancyTypes[id], header.payloadType == types.red {
      unsafe pipeline.insertRedundant(header, payload, codec: types.codec, at: now)
    } else {
      unsafe pipeline.insert(header, payload, at: now)
    }
  }

  private func audioPipeline(_ id: Int, _ codec: AudioCodecKind) -> AudioReceivePipeline? {
    if let current = audioReceiving[id] {
      if current.codec == codec { return current.pipeline }
      stopReceivingAudio(id)
    }
    return startReceivingAudio(id, codec)
  }

  private func stopReceivingAudio(_ id: Int) {
    guard let (_, pipeline) = audioReceiving.removeValue(forKey: id) else { return }
    endedAudio.add(pipeline)
    environment.playout.remove(pipeline)
  }

  private func startReceivingAudio(_ id: Int, _ codec: AudioCodecKind) -> AudioReceivePipeline? {
    guard let track = endpoints[id]?.received as? RTCAudioTrack,
      !refusedAudioDecoding.contains(id)
    else { return nil }
    let pipeline: AudioReceivePipeline
    do throws(AudioCodecError) {
      pipeline = try AudioReceivePipeline(track: track, codec: codec)
    } catch {
      refusedAudioDecoding.insert(id)
      environment.failed(.audioDecoder(error), id)
      return nil
    }
    audioReceiving[id] = (codec, pipeline)
    environment.playout.add(pipeline)
    return pipeline
  }

  // MARK: Lip sync

  /// What a transceiver's audio pipeline has handed to its sinks last.
  func audioPlayed(_ id: Int) -> PlayedMedia? { audioReceiving[id]?.pipeline.played }
  /// What a transceiver's video pipeline has.
  func videoPlayed(_ id: Int) -> PlayedMedia? { videoReceiving[id]?.pipeline.played }
  /// What `setJitterBufferTarget` said last.
  func jitterBufferTarget(_ id: Int) -> Duration? { endpoints[id]?.jitterBufferTarget }
  /// Keeps a transceiver's received audio back for at least so long.
  func setMinimumDelay(_ delay: Duration, transceiverID: Int) {
    audioReceiving[transceiverID]?.pipeline.setMinimumDelay(delay)
  }

  // MARK: Statistics

  /// What received audio and video lost here, by reason; what occurred.
  var drops: [PacketDrop] {
    var audio = endedAudio
    for (_, pipeline) in audioReceiving.values { audio.add(pipeline) }
    for sending in audioSending.values { audio.add(sending.pipeline) }
    return PacketDrop.list(.audioBuffer, audio.counts) + PacketDrop.list(.connection, audio.frames)
      + PacketDrop.list(.connection, encodedDrops.counts)
      + PacketDrop.list(.connection, ["undecodable": undecodable])
  }

  private var encodedDrops: EncodedSendPipeline.Drops {
    videoSending.values.reduce(endedEncoded) { $0 + $1.sender.drops }
  }

  /// What a transceiver's pipeline counted, and which of its layers has this name.
  func videoSendStatistics(_ id: Int, rid: String?) -> (VideoSendStatistics, layer: Int)? {
    guard let sending = videoSending[id], let layer = sending.rids.firstIndex(of: rid) else {
      return nil
    }
    return (statistics(of: sending, id), layer)
  }
  /// What a transceiver's track is encoded as; nil where it isn't sent.
  func videoSendConfiguration(_ id: Int) -> VideoSendConfiguration? {
    videoSending[id]?.sender.currentConfiguration
  }
  func videoReceiveStatistics(_ id: Int) -> VideoReceivePipeline.Statistics? {
    videoReceiving[id]?.pipeline.statistics
  }
  /// Frames of a transceiver's video that were decoded within the last second.
  func videoFramesPerSecond(_ id: Int, at now: Instant) -> Int? {
    videoReceiving[id]?.pipeline.framesPerSecond(at: now)
  }
  func videoSourceStatistics(_ id: Int) -> VideoSourceStatistics? {
    videoSending[id]?.sender.sourceStatistics
  }
  func audioSourceStatistics(_ id: Int) -> AudioSourceStatistics? {
    audioSending[id]?.pipeline.sourceStatistics
  }
  /// What the call's received audio was played as.
  var playoutStatistics: AudioPlayout.Statistics { environment.playout.statistics }
  func audioSendSettings(_ id: Int) -> OpusEncoderSettings? {
    audioSending[id]?.pipeline.encoderSettings
  }
  func audioReceiveStatistics(_ id: Int) -> AudioJitterBufferStats? {
    audioReceiving[id]?.pipeline.statistics
  }
}

/// Packets that audio jitter buffers didn't use, by reason.
private struct AudioDrops {
  private var late: UInt64 = 0
  private var overflow: UInt64 = 0
  private var duplicate: UInt64 = 0
  private var malformed: UInt64 = 0
  private var unknownFormat: UInt64 = 0
  private var sinksBehind: UInt64 = 0
  private var sending = AudioSendPipeline.Losses()

  mutating func add(_ pipeline: AudioSendPipeline) {
    let losses = pipeline.losses
    sending.framesDropped &+= losses.framesDropped
    sending.framesFailed &+= losses.framesFailed
  }

  mutating func add(_ pipeline: AudioReceivePipeline) {
    sinksBehind &+= pipeline.framesDropped
    let statistics = pipeline.statistics
    unknownFormat &+= pipeline.blocksSkipped
    late &+= statistics.packetsLate
    overflow &+= statistics.packetsDiscarded &- statistics.packetsLate
    duplicate &+= statistics.packetsDuplicated
    malformed &+= statistics.packetsMalformed
  }

  var counts: KeyValuePairs<String, UInt64> {
    [
      "late": late, "overflow": overflow, "duplicate": duplicate, "malformed": malformed,
      "unknownFormat": unknownFormat,
    ]
  }

  /// Frames of audio that the app's sinks or the encoder were too slow for, or that the encoder refused.
  var frames: KeyValuePairs<String, UInt64> {
    [
      "audioSinksBehind": sinksBehind, "audioEncoderBehind": sending.framesDropped,
      "audioNotEncoded": sending.framesFailed,
    ]
  }
}

extension ReceiveParameters {
  /// What its payload types of audio mean.
  fileprivate var audioCodecs: [UInt8: AudioCodecKind] {
    Dictionary(
      codecs.compactMap { codec in
        AudioCodecKind(encodingName: codec.name).map { (codec.payloadType, $0) }
      }, uniquingKeysWith: { first, _ in first })
  }
}
