import Foundation
import SoraSDK
import Testing
import WebRTC

// Names every property and plain case of the iOS SDK that this SDK has: one that is taken away or renamed breaks the build.
// Methods and initializers are called by the other tests and at the end. What is left out is in Tools/api/missing.txt, with reasons: `make api`.

/// Properties of instances.
private var properties: [AnyKeyPath] {
  [
    \AudioCodec.description,
    \CameraSettings.Resolution.height,
    \CameraSettings.Resolution.width,
    \CameraSettings.description,
    \CameraSettings.frameRate,
    \CameraSettings.isEnabled,
    \CameraSettings.position,
    \CameraSettings.resolution,
    \CameraVideoCapturer.device,
    \CameraVideoCapturer.format,
    \CameraVideoCapturer.frameRate,
    \CameraVideoCapturer.isRunning,
    \CameraVideoCapturer.position,
    \CameraVideoCapturer.stream,
    \CameraVideoCapturerHandlers.onCapture,
    \CameraVideoCapturerHandlers.onStart,
    \CameraVideoCapturerHandlers.onStop,
    \Configuration.audioBitRate,
    \Configuration.audioCodec,
    \Configuration.audioEnabled,
    \Configuration.audioStreamingLanguageCode,
    \Configuration.bundleId,
    \Configuration.cameraSettings,
    \Configuration.channelId,
    \Configuration.clientId,
    \Configuration.connectionTimeout,
    \Configuration.dataChannelSignaling,
    \Configuration.dataChannels,
    \Configuration.forwardingFilter,
    \Configuration.forwardingFilters,
    \Configuration.ignoreDisconnectWebSocket,
    \Configuration.mediaChannelHandlers,
    \Configuration.multistreamEnabled,
    \Configuration.proxy,
    \Configuration.publisherAudioTrackId,
    \Configuration.publisherStreamId,
    \Configuration.publisherVideoTrackId,
    \Configuration.role,
    \Configuration.signalingConnectMetadata,
    \Configuration.signalingConnectNotifyMetadata,
    \Configuration.simulcastEnabled,
    \Configuration.simulcastRid,
    \Configuration.spotlightEnabled,
    \Configuration.spotlightFocusRid,
    \Configuration.spotlightNumber,
    \Configuration.spotlightUnfocusRid,
    \Configuration.urlCandidates,
    \Configuration.videoAv1Params,
    \Configuration.videoBitRate,
    \Configuration.videoCodec,
    \Configuration.videoEnabled,
    \Configuration.videoH264Params,
    \Configuration.videoVp9Params,
    \Configuration.webRTCConfiguration,
    \Configuration.webSocketChannelHandlers,
    \ConnectionTask.state,
    \DeviceInfo.description,
    \DeviceInfo.machineName,
    \ForwardingFilter.action,
    \ForwardingFilter.metadata,
    \ForwardingFilter.name,
    \ForwardingFilter.priority,
    \ForwardingFilter.rules,
    \ForwardingFilter.version,
    \ForwardingFilterAction.rawValue,
    \ForwardingFilterRule.field,
    \ForwardingFilterRule.operator,
    \ForwardingFilterRule.values,
    \ForwardingFilterRuleField.rawValue,
    \ForwardingFilterRuleOperator.rawValue,
    \ICECandidate.sdp,
    \ICECandidate.url,
    \ICEServerInfo.credential,
    \ICEServerInfo.description,
    \ICEServerInfo.tlsSecurityPolicy,
    \ICEServerInfo.urls,
    \ICEServerInfo.userName,
    \ICETransportPolicy.description,
    \Log.description,
    \Log.level,
    \Log.message,
    \Log.timestamp,
    \Log.type,
    \Logger.groups,
    \Logger.level,
    \Logger.onOutputHandler,
    \LogLevel.description,
    \LogType.description,
    \MediaChannel.bundleId,
    \MediaChannel.closeEvent,
    \MediaChannel.rpcMethods,
    \MediaChannel.clientId,
    \MediaChannel.configuration,
    \MediaChannel.connectedUrl,
    \MediaChannel.connectionCount,
    \MediaChannel.connectionId,
    \MediaChannel.connectionStartTime,
    \MediaChannel.connectionTime,
    \MediaChannel.contactUrl,
    \MediaChannel.description,
    \MediaChannel.handlers,
    \MediaChannel.isAvailable,
    \MediaChannel.mainStream,
    \MediaChannel.native,
    \MediaChannel.publisherCount,
    \MediaChannel.receiverStreams,
    \MediaChannel.senderStream,
    \MediaChannel.state,
    \MediaChannel.streams,
    \MediaChannel.subscriberCount,
    \MediaChannelHandlers.onAddStream,
    \MediaChannelHandlers.onConnect,
    \MediaChannelHandlers.onDataChannel,
    \MediaChannelHandlers.onDataChannelMessage,
    \MediaChannelHandlers.onDisconnect,
    \MediaChannelHandlers.onReceiveSignaling,
    \MediaChannelHandlers.onRemoveStream,
    \MediaConstraints.mandatory,
    \MediaConstraints.optional,
    \(any MediaStream).audioEnabled,
    \(any MediaStream).creationTime,
    \(any MediaStream).handlers,
    \(any MediaStream).mediaChannel,
    \(any MediaStream).remoteAudioVolume,
    \(any MediaStream).streamId,
    \(any MediaStream).videoEnabled,
    \(any MediaStream).videoFilter,
    \(any MediaStream).videoRenderer,
    \MediaStreamHandlers.onSwitchAudio,
    \MediaStreamHandlers.onSwitchVideo,
    \Proxy.description,
    \Role.description,
    \RTCDataChannelState.description,
    \RTCDegradationPreference.description,
    \RTCIceConnectionState.description,
    \RTCIceGatheringState.description,
    \RTCRtpParameters.description,
    \RTCSessionDescription.sdpDescription,
    \RTCSignalingState.description,
    \SignalingAnswer.sdp,
    \SignalingCandidate.candidate,
    \SignalingConnect.audioBitRate,
    \SignalingConnect.audioCodec,
    \SignalingConnect.audioEnabled,
    \SignalingConnect.audioStreamingLanguageCode,
    \SignalingConnect.av1Params,
    \SignalingConnect.bundleId,
    \SignalingConnect.channelId,
    \SignalingConnect.clientId,
    \SignalingConnect.dataChannelSignaling,
    \SignalingConnect.environment,
    \SignalingConnect.forwardingFilter,
    \SignalingConnect.forwardingFilters,
    \SignalingConnect.h264Params,
    \SignalingConnect.ignoreDisconnectWebSocket,
    \SignalingConnect.metadata,
    \SignalingConnect.multistreamEnabled,
    \SignalingConnect.notifyMetadata,
    \SignalingConnect.redirect,
    \SignalingConnect.role,
    \SignalingConnect.sdp,
    \SignalingConnect.simulcastEnabled,
    \SignalingConnect.simulcastRid,
    \SignalingConnect.soraClient,
    \SignalingConnect.spotlightEnabled,
    \SignalingConnect.spotlightFocusRid,
    \SignalingConnect.spotlightNumber,
    \SignalingConnect.spotlightUnfocusRid,
    \SignalingConnect.videoBitRate,
    \SignalingConnect.videoCodec,
    \SignalingConnect.videoEnabled,
    \SignalingConnect.vp9Params,
    \SignalingConnect.webRTCVersion,
    \SignalingDisconnect.reason,
    \SignalingNotify.audioEnabled,
    \SignalingNotify.authnMetadata,
    \SignalingNotify.authzMetadata,
    \SignalingNotify.bundleId,
    \SignalingNotify.channelRecvonlyConnections,
    \SignalingNotify.channelSendonlyConnections,
    \SignalingNotify.channelSendrecvConnections,
    \SignalingNotify.clientId,
    \SignalingNotify.connectionCount,
    \SignalingNotify.connectionId,
    \SignalingNotify.connectionTime,
    \SignalingNotify.currentState,
    \SignalingNotify.data,
    \SignalingNotify.destinationConnectionId,
    \SignalingNotify.eventType,
    \SignalingNotify.failedConnectionId,
    \SignalingNotify.isFixed,
    \SignalingNotify.kind,
    \SignalingNotify.metadata,
    \SignalingNotify.previousState,
    \SignalingNotify.recvConnectionId,
    \SignalingNotify.role,
    \SignalingNotify.sendConnectionId,
    \SignalingNotify.sessionId,
    \SignalingNotify.sourceConnectionId,
    \SignalingNotify.spotlightId,
    \SignalingNotify.spotlightNumber,
    \SignalingNotify.streamId,
    \SignalingNotify.timestamp,
    \SignalingNotify.turnTransportType,
    \SignalingNotify.unstableLevel,
    \SignalingNotify.videoEnabled,
    \SignalingNotifyMetadata.authnMetadata,
    \SignalingNotifyMetadata.authzMetadata,
    \SignalingNotifyMetadata.bundleId,
    \SignalingNotifyMetadata.clientId,
    \SignalingNotifyMetadata.connectionId,
    \SignalingNotifyMetadata.metadata,
    \SignalingOffer.Configuration.iceServerInfos,
    \SignalingOffer.Configuration.iceTransportPolicy,
    \SignalingOffer.Encoding.active,
    \SignalingOffer.Encoding.maxBitrate,
    \SignalingOffer.Encoding.maxFramerate,
    \SignalingOffer.Encoding.rid,
    \SignalingOffer.Encoding.rtpEncodingParameters,
    \SignalingOffer.Encoding.scalabilityMode,
    \SignalingOffer.Encoding.scaleResolutionDownBy,
    \SignalingOffer.audio,
    \SignalingOffer.audioBitRate,
    \SignalingOffer.audioCodecType,
    \SignalingOffer.bundleId,
    \SignalingOffer.channelId,
    \SignalingOffer.clientId,
    \SignalingOffer.configuration,
    \SignalingOffer.connectionId,
    \SignalingOffer.dataChannels,
    \SignalingOffer.rpcMethods,
    \SignalingOffer.encodings,
    \SignalingOffer.metadata,
    \SignalingOffer.mid,
    \SignalingOffer.sdp,
    \SignalingOffer.sessionId,
    \SignalingOffer.simulcast,
    \SignalingOffer.simulcastMulticodec,
    \SignalingOffer.spotlight,
    \SignalingOffer.version,
    \SignalingOffer.video,
    \SignalingOffer.videoBitRate,
    \SignalingOffer.videoCodecType,
    \SignalingPing.statisticsEnabled,
    \SignalingPush.data,
    \SignalingReAnswer.sdp,
    \SignalingRedirect.location,
    \SignalingReOffer.sdp,
    \SignalingRole.rawValue,
    \SignalingSwitched.ignoreDisconnectWebSocket,
    \SignalingUpdate.sdp,
    \Sora.audioEnabled,
    \Sora.handlers,
    \Sora.mediaChannels,
    \Sora.usesManualAudio,
    \SoraError.errorDescription,
    \SoraHandlers.onAddMediaChannel,
    \SoraHandlers.onConnect,
    \SoraHandlers.onDisconnect,
    \SoraHandlers.onRemoveMediaChannel,
    \Statistics.entries,
    \Statistics.jsonObject,
    \Statistics.timestamp,
    \StatisticsEntry.id,
    \StatisticsEntry.timestamp,
    \StatisticsEntry.type,
    \StatisticsEntry.values,
    \VideoCodec.description,
    \VideoFrame.height,
    \VideoFrame.timestamp,
    \VideoFrame.width,
    \VideoView.backgroundView,
    \VideoView.connectionMode,
    \VideoView.currentVideoFrameSize,
    \VideoView.debugMode,
    \VideoView.isRendering,
    \WebRTCConfiguration.constraints,
    \WebRTCConfiguration.degradationPreference,
    \WebRTCConfiguration.iceServerInfos,
    \WebRTCConfiguration.iceTransportPolicy,
    \WebRTCConfiguration.sdpSemantics,
    \WebSocketChannelHandlers.onReceive,
  ]
}

/// Properties of types.
private var statics: [Any] {
  [
    CameraSettings.default,
    CameraVideoCapturer.back as Any,
    CameraVideoCapturer.current as Any,
    CameraVideoCapturer.devices,
    CameraVideoCapturer.front as Any,
    CameraVideoCapturer.handlers,
    DeviceInfo.current,
    Logger.shared,
    MediaStreamAudioVolume.max,
    MediaStreamAudioVolume.min,
    SDKInfo.version,
    Sora.logLevel,
    Sora.shared,
    WebRTCInfo.branch,
    WebRTCInfo.commitPosition,
    WebRTCInfo.maintenanceVersion,
    WebRTCInfo.revision,
    WebRTCInfo.shortRevision,
    WebRTCInfo.version,
  ]
}

/// Cases without values.
private var cases: [Any] {
  [
    AspectRatio.standard,
    AspectRatio.wide,
    AudioCodec.`default`,
    AudioCodec.opus,
    AudioCodec.pcmu,
    AudioMode.videoChat,
    AudioOutput.`default`,
    AudioOutput.speaker,
    CameraSettings.Resolution.hd1080p,
    CameraSettings.Resolution.hd720p,
    CameraSettings.Resolution.qhd540p,
    CameraSettings.Resolution.qvga240p,
    CameraSettings.Resolution.uhd2160p,
    CameraSettings.Resolution.uhd3024p,
    CameraSettings.Resolution.vga480p,
    Configuration.Spotlight.disabled,
    Configuration.Spotlight.enabled,
    ConnectionState.connected,
    ConnectionState.connecting,
    ConnectionState.disconnected,
    ConnectionState.disconnecting,
    ConnectionTask.State.canceled,
    ConnectionTask.State.completed,
    ConnectionTask.State.connecting,
    DegradationPreference.balanced,
    DegradationPreference.disabled,
    DegradationPreference.maintainFramerate,
    DegradationPreference.maintainResolution,
    ForwardingFilterAction.allow,
    ForwardingFilterAction.block,
    ForwardingFilterRuleField.clientId,
    ForwardingFilterRuleField.connectionId,
    ForwardingFilterRuleField.kind,
    ForwardingFilterRuleOperator.isIn,
    ForwardingFilterRuleOperator.isNotIn,
    ICETransportPolicy.all,
    ICETransportPolicy.relay,
    Logger.Group.channels,
    Logger.Group.configurationViewController,
    Logger.Group.connectionTimer,
    Logger.Group.user,
    Logger.Group.videoCapturer,
    Logger.Group.videoRenderer,
    LogLevel.debug,
    LogLevel.error,
    LogLevel.fatal,
    LogLevel.info,
    LogLevel.off,
    LogLevel.trace,
    LogLevel.warn,
    LogType.cameraVideoCapturer,
    LogType.configurationViewController,
    LogType.connectionTimer,
    LogType.dataChannel,
    LogType.mediaChannel,
    LogType.mediaStream,
    LogType.nativePeerChannel,
    LogType.peerChannel,
    LogType.signaling,
    LogType.signalingChannel,
    LogType.sora,
    LogType.videoRenderer,
    LogType.videoView,
    LogType.webSocketChannel,
    Role.recvonly,
    Role.sendonly,
    Role.sendrecv,
    SDPSemantics.unifiedPlan,
    SignalingRole.recvonly,
    SignalingRole.sendonly,
    SignalingRole.sendrecv,
    SimulcastRid.r0,
    SimulcastRid.r1,
    SimulcastRid.r2,
    SoraDispatcher.audio,
    SoraDispatcher.camera,
    SoraError.connectionCancelled,
    SoraError.connectionTimeout,
    SoraError.invalidSignalingMessage,
    SpotlightRid.none,
    SpotlightRid.r0,
    SpotlightRid.r1,
    SpotlightRid.r2,
    SpotlightRid.unspecified,
    TLSSecurityPolicy.insecure,
    TLSSecurityPolicy.secure,
    VideoCodec.av1,
    VideoCodec.`default`,
    VideoCodec.h264,
    VideoCodec.h265,
    VideoCodec.vp8,
    VideoCodec.vp9,
    VideoViewConnectionMode.auto,
    VideoViewConnectionMode.autoClear,
    VideoViewConnectionMode.manual,
    WebSocketStatusCode.abnormal,
    WebSocketStatusCode.goingAway,
    WebSocketStatusCode.internalError,
    WebSocketStatusCode.invalidUTF8,
    WebSocketStatusCode.messageTooBig,
    WebSocketStatusCode.missingExtension,
    WebSocketStatusCode.noStatusReceived,
    WebSocketStatusCode.normal,
    WebSocketStatusCode.policyViolated,
    WebSocketStatusCode.protocolError,
    WebSocketStatusCode.serviceRestart,
    WebSocketStatusCode.tlsHandshake,
    WebSocketStatusCode.tryAgainLater,
    WebSocketStatusCode.unhandledType,
  ]
}
/// Methods, initializers and cases with values. Only compiled.
@MainActor private func methods(
  sora: Sora, channel: MediaChannel, stream: any MediaStream, renderer: any VideoRenderer,
  decoder: any Decoder, frame: RTCVideoFrame, camera: CameraDevice
) throws {
  let connect: ConnectionTask = sora.connect(
    configuration: Configuration(
      urlCandidates: [], channelId: "", role: .sendonly, multistreamEnabled: true),
    webRTCConfiguration: WebRTCConfiguration(), handler: { (_: MediaChannel?, _: (any Error)?) in })
  connect.cancel()
  Sora.finish()
  Sora.setWebRTCLogLevel(RTCLoggingSeverity.info)
  let _: Result<Void, any Error> = sora.setAudioMode(.videoChat, options: [.allowAirPlay])
  let _: (any Error)? = channel.sendMessage(label: "", data: Data())
  channel.disconnect(error: nil)
  stream.send(videoFrame: .native(capturer: nil, frame: frame))
  stream.terminate()
  renderer.onChange(size: .zero)
  renderer.render(videoFrame: nil)
  renderer.onDisconnect(from: nil)
  renderer.onAdded(from: stream)
  renderer.onRemoved(from: stream)
  renderer.onSwitch(video: true)
  renderer.onSwitch(audio: true)
  let view = VideoView(frame: .zero)
  let _: any VideoRenderer = view
  view.start()
  view.stop()
  view.clear()
  view.onChange(size: .zero)
  view.render(videoFrame: nil)
  view.onDisconnect(from: nil)
  view.onAdded(from: stream)
  view.onRemoved(from: stream)
  view.onSwitch(video: true)
  view.onSwitch(audio: true)
  let capturer = CameraVideoCapturer(device: camera)
  let _: CameraDevice? = CameraVideoCapturer.device(for: CameraPosition.front)
  let format: CameraFormat? = CameraVideoCapturer.format(
    width: 1280, height: 720, for: camera, frameRate: 30)
  let rate: Int? = format.flatMap { CameraVideoCapturer.maxFrameRate(30, for: $0) }
  if let format, let rate {
    capturer.start(format: format, frameRate: rate) { (_: (any Error)?) in }
    capturer.change(format: format, frameRate: rate) { (_: (any Error)?) in }
  }
  capturer.restart { (_: (any Error)?) in }
  capturer.stop { (_: (any Error)?) in }
  CameraVideoCapturer.flip(capturer) { (_: (any Error)?) in }
  CameraVideoCapturer.handlers = CameraVideoCapturerHandlers()
  let stopwatch = Utilities.Stopwatch { (_: String) in }
  stopwatch.run()
  stopwatch.stop()
  SoraDispatcher.async(on: .camera) {}
  Logger.trace(type: .user(""), message: "")
  Logger.debug(type: .sora, message: "")
  _ = CameraSettings(resolution: .hd720p, frameRate: 30, position: .front, isEnabled: true)
  _ = MediaStreamHandlers()
  _ = SoraHandlers()
  _ = MediaChannelHandlers()
  _ = WebSocketChannelHandlers()
  _ = try MediaConstraints(from: decoder)
  _ = try SignalingConnect(from: decoder)
  _ = try SignalingOffer.Encoding(from: decoder)
  _ = try SignalingOffer.Configuration(from: decoder)
  let _: [(String) -> WebSocketMessage] = [WebSocketMessage.text]
  let _: (Data) -> WebSocketMessage = WebSocketMessage.binary
}

/// Every case of `Signaling`, so that one that is added or taken away is noticed.
private func payload(_ message: Signaling) -> any Sendable {
  switch message {
  case .connect(let value): value
  case .offer(let value): value
  case .answer(let value): value
  case .update(let value): value
  case .reOffer(let value): value
  case .reAnswer(let value): value
  case .candidate(let value): value
  case .notify(let value): value
  case .ping(let value): value
  case .pong(let value): value
  case .disconnect(let value): value
  case .push(let value): value
  case .switched(let value): value
  case .redirect(let value): value
  case .close(let value): value
  }
}

@Test func everyNameIsThere() {
  #expect(properties.count > 200 && statics.count > 10 && cases.count > 80)
}
