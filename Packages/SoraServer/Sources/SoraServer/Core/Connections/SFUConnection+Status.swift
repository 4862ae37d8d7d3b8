import SoraCongestion
import SoraICE
import SoraMedia
import SoraRTP
import SoraTransport

extension SFUConnection {
  var status: SFUConnectionStatus {
    SFUConnectionStatus(
      peer: signaling.peer, channelID: channel.id, sessionID: channel.sessionID,
      connectionID: connectionID,
      clientID: clientID, bundleID: bundleID, role: request.role,
      audioStreamingLanguageCode: request.audioStreamingLanguageCode, isConnected: isConnected,
      spotlight: spotlightStatus,
      tracks: uplink.tracks.map { track in
        let counted = track.statistics
        return SFUConnectionStatus.Track(
          kind: track.kind, codec: track.codec.name, packets: counted.packets,
          bytes: counted.bytes,
          packetsLost: track.layers.reduce(0) { $0 + ($1.receiver?.received.packetsLost ?? 0) },
          nacksSent: counted.nacksSent, keyFrameRequests: counted.keyFrameRequests,
          subscribers: track.subscriptions.count,
          layers: track.layers.compactMap(\.status))
      },
      subscriptions: downlink.subscriptions.map(\.status),
      transportFeedbacks: downlink.controller.statistics.feedbackMessages,
      receiverEstimate: (downlink.controller.statistics.receiverEstimate?.bitsPerSecond)
        .map(UInt64.init),
      estimate: downlink.controller.knownEstimate?.bitsPerSecond,
      dropped: allDropped, bytesReceived: transport.statistics.bytesReceived,
      bytesSent: transport.statistics.bytesSent)
  }

  /// With what the parts of the connection count.
  var allDropped: SFUDropped {
    var dropped = dropped
    let media = uplink.dropped
    dropped.malformedRTP = media.malformed
    dropped.unknownSource = media.unknownSource
    dropped.retiredSource = media.retiredSource
    dropped.tooManySources = media.tooManySources
    dropped.emptyRetransmission = media.emptyRetransmission
    dropped.duplicate = media.duplicate
    dropped.malformedRTCP = rtcp.dropped.malformed
    dropped.unknownRTCP = rtcp.dropped.unknown
    dropped.requestOfUnknownSource = rtcp.dropped.requestOfUnknownSource
    dropped.retransmissionBudget = downlink.controller.statistics.retransmissionsRefused
    dropped.malformedDataMessage = signaling.channels?.dropped.malformed ?? 0
    dropped.dataChannelFull = signaling.channels?.dropped.full ?? 0
    dropped.tooManyCandidates += transport.ice.statistics.dropped(.remoteCandidateLimit)
    dropped.pacerFull = downlink.controller.statistics.pacerFull
    return dropped
  }
}

extension PublishedLayer {
  /// nil without simulcast.
  fileprivate var status: SFUConnectionStatus.Layer? {
    guard let rid else { return nil }
    let counted = statistics
    return SFUConnectionStatus.Layer(
      rid: rid.description, isFlowing: flow.isFlowing, packets: counted.packets,
      bytes: counted.bytes, keyFrameRequests: counted.keyFrameRequests)
  }
}

extension SubscribedTrack {
  fileprivate var status: SFUConnectionStatus.Subscription {
    let counted = statistics
    return SFUConnectionStatus.Subscription(
      kind: kind, publisherID: source.publisherID, isActive: isActive,
      packets: counted.sent.packetsSent &- counted.sent.retransmittedPacketsSent
        &- counted.sent.paddingPacketsSent,
      bytes: counted.sent.bytesSent &- counted.sent.retransmittedBytesSent
        &- counted.sent.paddingBytesSent,
      retransmissions: counted.sent.retransmittedPacketsSent,
      retransmissionsMissing: counted.sent.retransmissionsMissing,
      padding: counted.sent.paddingPacketsSent, dropped: counted.notWritable,
      overtaken: counted.dropped.overtaken, withdrawn: counted.dropped.withdrawn,
      late: counted.dropped.late,
      unfocused: counted.dropped.unfocused,
      layerFramesLeftOut: counted.frames.layerFrames,
      congestedFramesLeftOut: counted.frames.congestedFrames,
      layer: share.map { source.isSimulcast ? $0.layer % LayerRates.count : $0.layer },
      rid: source.isSimulcast ? (selection.current?.rid?.description ?? "none") : nil,
      nextRid: selection.next?.rid?.description,
      limitation: share?.reason.rawValue, nacks: counted.sent.nackCount,
      keyFrameRequests: counted.sent.pliCount &+ counted.sent.firCount,
      fractionLost: sender.remote.fractionLost, roundTrip: sender.remote.roundTrip)
  }
}
