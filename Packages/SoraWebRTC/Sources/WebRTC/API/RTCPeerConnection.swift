import Dispatch
import Foundation
import SoraClock
import SoraCodecs
import SoraDTLS
import SoraDataChannel
import SoraICE
import SoraMedia
import SoraRTP
import SoraSDP
import SoraSimulcast
public import SoraTransport
import Synchronization

/// A connection to another WebRTC endpoint (W3C `RTCPeerConnection`, with the names of libwebrtc's Objective-C API).
///
/// Safe from any thread. The delegate is called on a serial queue of the connection's own. A connection that is let go
/// of without `close` closes itself.
public final class RTCPeerConnection: Sendable {
  public let configuration: RTCConfiguration
  let actor: PeerConnectionActor
  let facade = PeerConnectionFacade()

  /// - Parameters:
  ///   - configuration: servers, policies and settings.
  ///   - videoCodecs: who encodes and decodes.
  ///   - videoCapabilities: what is offered and accepted, in order of preference.
  ///   - dtls: who secures the connection, or why nobody does.
  ///   - delegate: held weakly.
  init(
    _ configuration: RTCConfiguration, videoCodecs: VideoCodecRegistry,
    videoCapabilities: [CodecCapability],
    dtls: Result<any DTLSEndpointFactory & Sendable, RTCSetupError>,
    delegate: (any RTCPeerConnectionDelegate)?
  ) throws(RTCSetupError) {
    self.configuration = configuration
    let gathering = try configuration.checkedGathering()
    let dtls = try dtls.get()
    let certificate =
      if let own = configuration.certificate { own.native } else {
        try RTCCertificate.generate().native
      }
    let loop = try Self.nextLoop()
    let actor = PeerConnectionActor(loop: loop)
    self.actor = actor
    facade.setDelegate(delegate, of: self)
    let facade = facade
    let settings = configuration.settings
    let environment = MediaPipelines.Environment(
      registry: videoCodecs, playout: AudioPlayout(),
      audioRedundancy: settings.audioRedundancy,
      now: { SystemClock.now },
      sendVideo: { encoded, id in
        actor.execute { driver in
          driver.perform { core, now in
            core.send(encoded.frame, transceiverID: id, rid: encoded.rid, at: now)
          }
        }
      },
      sendAudio: { frame, level, id in
        actor.execute { driver in
          driver.perform { core, now in core.send(frame, transceiverID: id, level: level, at: now) }
        }
      },
      needKeyFrame: { id in
        actor.execute { driver in driver.requestKeyFrame(transceiverID: id) }
      },
      sourceRate: { bitsPerSecond, id in
        actor.execute { driver in
          driver.perform { core, now in
            core.setSourceBitrate(bitsPerSecond, transceiverID: id, at: now)
          }
        }
      },
      failed: { failure, id in facade.mediaFailed(failure, transceiverID: id) })
    actor.start {
      let now = SystemClock.now
      var core = PeerConnectionCore.Configuration(
        certificate: certificate, dtls: dtls,
        wallClock: WallClock(unixNanoseconds: SystemClock.realtimeNanoseconds, at: now))
      core.videoCodecs = videoCapabilities
      core.audioRedundancy = settings.audioRedundancy
      core.offersRepair = settings.offersRepair
      core.offersFeedbackBySource = settings.offersFeedbackBySource
      core.ecn = settings.ecn
      core.acceptsDataChannels = settings.acceptsDataChannels
      core.data.maximumMessageSize = settings.maximumMessageSize
      core.gathering = gathering
      core.ice.consentTimeout = settings.consentTimeout
      core.ice.relayedConsentTimeout = settings.relayedConsentTimeout
      core.startBitrate = settings.startBitrate
      core.minimumBitrate = settings.minBitrate
      core.maximumBitrate = settings.maxBitrate
      let driver = PeerConnectionDriver(
        loop: loop, configuration: core, settings: settings, random: .system(),
        media: MediaPipelines(environment: environment), backlog: facade.backlog)
      driver.data.announce = { parameters, stream in
        facade.announceChannel(parameters, stream: stream, actor: actor)
      }
      let names = NameResolution.candidates(of: actor)
      driver.onEvent = { [unowned driver] event in
        switch event {
        case .serverAddressesNeeded(let name): NameResolution.resolveServer(name, actor: actor)
        case .addressNeeded(let candidate): names.resolve(candidate)
        default: facade.handle(event, driver: driver, actor: actor)
        }
      }
      return driver
    }
  }

  deinit { actor.close() }

  private static func nextLoop() throws(RTCSetupError) -> NetworkLoop {
    do {
      return try NetworkLoopGroup.shared.next()
    } catch {
      throw .noNetworkLoop(error)
    }
  }

  // MARK: State

  public var delegate: (any RTCPeerConnectionDelegate)? {
    get { facade.delegate }
    set { facade.setDelegate(newValue, of: self) }
  }
  public var signalingState: RTCSignalingState { RTCSignalingState(states.signaling) }
  /// Of ICE alone: a failure of DTLS leaves it as it was (W3C webrtc §4.3.4).
  public var iceConnectionState: RTCIceConnectionState { RTCIceConnectionState(states.ice) }
  public var iceGatheringState: RTCIceGatheringState { RTCIceGatheringState(states.gathering) }
  /// Of DTLS alone: what W3C's `RTCDtlsTransport.state` says, of the one transport. Not libwebrtc's.
  public var dtlsTransportState: RTCDtlsTransportState { RTCDtlsTransportState(states.dtls) }
  /// What follows from ICE and DTLS (W3C webrtc §4.3.3).
  public var connectionState: RTCPeerConnectionState { RTCPeerConnectionState(states.connection) }
  /// Why the connection has failed; nil while it hasn't, and again once a restart of ICE has led out of it.
  public var failure: PeerTransportError? { states.failure }
  /// Streams given to `add`.
  public var localStreams: [RTCMediaStream] { facade.localStreams }
  /// Streams that the other side sends now.
  public var remoteStreams: [RTCMediaStream] { facade.remoteStreams }
  /// Those that haven't stopped, in the order of their creation.
  public var transceivers: [RTCRtpTransceiver] { facade.transceivers }
  public var senders: [RTCRtpSender] { transceivers.map(\.sender) }
  public var receivers: [RTCRtpReceiver] { transceivers.map(\.receiver) }
  /// Ours, in force or under way, with the candidates so far.
  public var localDescription: RTCSessionDescription? {
    facade.snapshot.localDescription.map { RTCSessionDescription($0) }
  }
  /// The other side's, in force or under way, with the candidates so far.
  public var remoteDescription: RTCSessionDescription? {
    facade.snapshot.remoteDescription.map { RTCSessionDescription($0) }
  }

  /// Sections of the other side's last offer that are turned down, such as for want of a common codec. Not libwebrtc's.
  public var rejectedSections: [NegotiationError.Rejected] { facade.snapshot.rejectedSections }

  private var states: PeerConnectionSnapshot.States { facade.snapshot.states }

  // MARK: Descriptions

  /// Creates an offer of what the transceivers want.
  ///
  /// - Throws: `NegotiationError`.
  public func offer(for constraints: RTCMediaConstraints? = nil) async throws
    -> RTCSessionDescription
  {
    let restarts = constraints?.mandatoryConstraints["IceRestart"] == "true"
    let sdp = try await run { driver in
      try driver.perform { core, now in
        if restarts { core.restartICE(at: now) }
        return try core.createOffer()
      }
    }
    return RTCSessionDescription(type: .offer, sdp: sdp)
  }

  /// Has the next offer look for a new path (W3C `restartIce`): after the network changed, or while the state is `disconnected` or
  /// `failed`. The delegate is told that an offer is wanted. The keys and the media's sources stay as they are.
  public func restartIce() {
    actor.execute { driver in driver.perform { core, now in core.restartICE(at: now) } }
  }

  /// Creates an answer to the offer that was set.
  ///
  /// - Throws: `NegotiationError`, also where no section of the offer could be accepted.
  public func answer(for constraints: RTCMediaConstraints? = nil) async throws
    -> RTCSessionDescription
  {
    let sdp = try await run { driver in try driver.perform { core, _ in try core.createAnswer() } }
    return RTCSessionDescription(type: .answer, sdp: sdp)
  }

  /// Applies an offer or answer that this connection created, and gathers candidates; or a rollback, which gives up the exchange under
  /// way.
  ///
  /// - Throws: `NegotiationError`, or `RTCSetupError` where no socket can be had.
  public func setLocalDescription(_ description: RTCSessionDescription) async throws {
    if description.type == .rollback { return try await rollBack() }
    let kind = try description.kind
    try await run { driver in
      let addresses = try driver.openSockets()
      try driver.perform { core, now in
        try core.setLocalDescription(kind, description.sdp, addresses: addresses, at: now)
      }
    }
  }

  /// Applies the other side's offer or answer, or a rollback. An offer that crosses one of ours rolls that back: the polite side of
  /// W3C's "perfect negotiation" needs to do nothing else.
  ///
  /// - Throws: `NegotiationError`.
  public func setRemoteDescription(_ description: RTCSessionDescription) async throws {
    if description.type == .rollback { return try await rollBack() }
    let kind = try description.kind
    try await run { driver in
      try driver.perform { core, now in
        try core.setRemoteDescription(kind, description.sdp, at: now)
      }
    }
  }

  private func rollBack() async throws {
    try await run { driver in try driver.perform { core, now in try core.rollback(at: now) } }
  }

  /// Adds a candidate of the other side.
  ///
  /// - Throws: `NegotiationError`.
  public func add(_ candidate: RTCIceCandidate) async throws {
    try await run { driver in
      try driver.perform { core, now in
        try core.addRemoteCandidate(
          candidate.sdp, mid: candidate.sdpMid, mLineIndex: Int(candidate.sdpMLineIndex), at: now)
      }
    }
  }

  // MARK: Tracks

  /// Adds a transceiver; it is negotiated with the next offer.
  @discardableResult
  public func addTransceiver(
    of mediaType: RTCRtpMediaType, direction: RTCRtpTransceiverDirection = .sendRecv,
    track: RTCMediaStreamTrack? = nil, streamIds: [String] = []
  ) async throws -> RTCRtpTransceiver {
    let facade = facade
    let made = try await run { driver in
      let id = driver.core.addTransceiver(
        mediaType == .audio ? .audio : .video, direction: MediaDirection(direction),
        trackID: track?.trackId, streamIDs: streamIds, at: driver.loop.now)
      driver.media.setSentTrack(track, transceiverID: id)
      let transceiver = facade.transceiver(id: id)
      transceiver?.sender.initialize(track: track, streamIds: streamIds)
      return transceiver
    }
    guard let made else {
      throw NegotiationError.invalidState(operation: "addTransceiver", state: .closed)
    }
    return made
  }

  /// Adds the tracks of a stream; they are negotiated with the next description.
  public func add(_ stream: RTCMediaStream) async throws {
    let facade = facade
    try await run { driver in
      for track in stream.audioTracks as [RTCMediaStreamTrack] + stream.videoTracks {
        let id = driver.core.addTrack(
          track is RTCAudioTrack ? .audio : .video, trackID: track.trackId,
          streamIDs: [stream.streamId], at: driver.loop.now)
        driver.media.setSentTrack(track, transceiverID: id)
        facade.transceiver(id: id)?.sender.initialize(track: track, streamIds: [stream.streamId])
      }
    }
    facade.addLocal(stream)
  }

  /// Takes the tracks of a stream away with the next description.
  public func remove(_ stream: RTCMediaStream) {
    facade.removeLocal(stream)
    for sender in senders {
      guard let track = sender.track else { continue }
      if stream.audioTracks.contains(where: { $0 === track })
        || stream.videoTracks.contains(where: { $0 === track })
      {
        sender.track = nil
      }
    }
  }

  // MARK: Statistics and the end

  /// Statistics with the names of W3C webrtc-stats.
  public func statistics() async -> RTCStatisticsReport {
    let report = try? await actor.run { StatisticsCollector(driver: $0).report() }
    return (report ?? nil) ?? RTCStatisticsReport(timestamp_us: 0, statistics: [])
  }

  /// When the connection came to which point of its making; empty after `close`. Not libwebrtc's.
  public func timeline() async -> ConnectionTimeline {
    let timeline = try? await actor.run { $0.core.timeline }
    return (timeline ?? nil) ?? ConnectionTimeline()
  }

  /// Ends the connection. The other side is told; the delegate hears of the state `closed`.
  public func close() {
    facade.close()
    actor.close()
  }

  private func run<Result: Sendable>(
    _ body: @Sendable (PeerConnectionDriver) throws -> Result
  ) async throws -> Result {
    guard let result = try await actor.run(body) else {
      throw NegotiationError.invalidState(operation: "a call", state: .closed)
    }
    return result
  }
}

extension RTCSessionDescription {
  /// The kind as the negotiator knows it.
  var kind: DescriptionKind {
    get throws(NegotiationError) {
      switch type {
      case .offer: .offer
      case .answer: .answer
      case .prAnswer, .rollback:
        throw .notCreatedHere(detail: "a provisional answer is not a description to apply")
      }
    }
  }
}
