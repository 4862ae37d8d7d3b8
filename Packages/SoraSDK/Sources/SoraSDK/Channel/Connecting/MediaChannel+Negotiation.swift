import Foundation
import SoraClock
import SoraSignaling
import SoraTransport
import Synchronization
import WebRTC

extension MediaChannel {
  /// A step of the negotiation that failed, with its one line.
  private struct NegotiationFailure: Error {
    let reason: String
  }

  // MARK: The first offer

  func negotiate(_ offer: SignalingOffer, policy: String?) async {
    let client = storage.withLock { state -> SignalingClient? in
      // A second offer has no place in the protocol.
      guard state.phase == .connecting, state.peer == nil, let client = state.client else {
        return nil
      }
      state.progress.offered(from: client.connectedURL, at: SystemClock.now)
      state.names = Names(
        clientID: offer.clientId, bundleID: offer.bundleId, connectionID: offer.connectionId)
      state.encodings = offer.encodings ?? []
      return client
    }
    guard let client else {
      return Logger.warn(type: .signalingChannel, message: "an offer out of turn was ignored")
    }
    dataChannels.announce(offer.channels)
    calls.methods = offer.rpcMethods ?? []
    if let policy, ICETransportPolicy(rawValue: policy) == nil {
      return end(
        SoraError.invalidSignalingMessage,
        reason:
          "message: offer.config.iceTransportPolicy is \"\(policy)\"; send \"relay\" or \"all\"")
    }
    do {
      let peer = try makePeer(offer)
      try await apply(offer.sdp, to: peer)
      if configuration.role.sends { try attach(offer, to: peer) }
      apply(offer.encodings ?? [], to: peer)
      warn(configuration.settingsWithoutEffect(in: offer))
      let answer = try await answer(on: peer)
      guard storage.withLock({ $0.phase == .connecting }) else { return }
      client.send(.answer(AnswerMessage(sdp: answer)))
      storage.withLock { $0.progress.answered() }
    } catch {
      failed(error)
    }
  }

  /// One line for all of them.
  private func warn(_ settings: [String]) {
    guard !settings.isEmpty else { return }
    Logger.warn(
      type: .mediaChannel,
      message: "without effect on this connection: \(settings.joined(separator: ", "))")
  }

  private func makePeer(_ offer: SignalingOffer) throws(NegotiationFailure) -> RTCPeerConnection {
    var settings = configuration.webRTCConfiguration.native
    settings.settings = configuration.engine
    settings.settings.streamConnector = configuration.streamConnector
    // Presence means data-channel signaling, even of an empty list.
    settings.settings.acceptsDataChannels = offer.channels != nil
    if let ice = offer.configuration {
      settings.iceServers = ice.iceServerInfos.map(\.native)
      settings.iceTransportPolicy = ice.iceTransportPolicy == .relay ? .relay : .all
    }
    settings.certificate = storage.withLock { $0.certificate }
    let events = PeerEvents { [input] in input.yield(.peer($0)) }
    let peer: RTCPeerConnection
    do throws(RTCSetupError) {
      peer = try NativeFactory.shared.makePeerConnection(
        with: settings, constraints: configuration.webRTCConfiguration.constraints.native,
        delegate: events)
    } catch {
      throw NegotiationFailure(reason: "setup: \(error)")
    }
    let isWanted = storage.withLock { state in
      guard state.phase == .connecting else { return false }
      state.peer = peer
      state.peerEvents = events
      return true
    }
    if !isWanted { peer.close() }
    return peer
  }

  /// Puts the local tracks onto the m-sections that the server has set aside for them.
  private func attach(_ offer: SignalingOffer, to peer: RTCPeerConnection)
    throws(NegotiationFailure)
  {
    let wanted =
      (configuration.audioEnabled ? ["audio"] : []) + (configuration.videoEnabled ? ["video"] : [])
    let mids = wanted.compactMap { kind in offer.mid?[kind].map { (kind, $0) } }
    guard !mids.isEmpty || wanted.isEmpty else {
      throw NegotiationFailure(
        reason:
          "mid not found: the offer names no section for \(wanted.joined(separator: " and "));"
          + " check what the server allows this connection to send, and its version")
    }
    let factory = NativeFactory.shared
    let native = factory.mediaStream(withStreamId: configuration.publisherStreamId)
    if configuration.audioEnabled {
      let source = factory.audioSource(with: configuration.webRTCConfiguration.constraints.native)
      native.addAudioTrack(
        factory.audioTrack(with: source, trackId: configuration.publisherAudioTrackId))
    }
    if configuration.videoEnabled {
      native.addVideoTrack(
        factory.videoTrack(
          with: factory.videoSource(), trackId: configuration.publisherVideoTrackId))
    }
    for (kind, mid) in mids {
      guard let transceiver = peer.transceivers.first(where: { $0.mid == mid }) else {
        throw NegotiationFailure(reason: unusableSection(kind, mid, of: peer))
      }
      let track: RTCMediaStreamTrack? =
        kind == "audio" ? native.audioTracks.first : native.videoTracks.first
      transceiver.setDirection(.sendOnly)
      transceiver.sender.streamIds = [configuration.publisherStreamId]
      transceiver.sender.track = track
      if kind == "video" {
        let wanted = configuration.webRTCConfiguration
        if let preference = wanted.degradationPreference {
          transceiver.sender.parameters.degradationPreference = preference.native
        }
        transceiver.sender.parameters.videoBitDepth = wanted.videoBitDepth
      }
    }
    let stream = BasicMediaStream(native, channel: self)
    addLocal(stream)
    if mids.contains(where: { $0.0 == "video" }) { startCamera(for: stream) }
    if mids.contains(where: { $0.0 == "audio" }) { startMicrophone(for: stream) }
  }

  /// Why there is no transceiver for a kind of media.
  private func unusableSection(_ kind: String, _ mid: String, of peer: RTCPeerConnection) -> String
  {
    guard let rejected = peer.rejectedSections.first(where: { $0.mid == mid }) else {
      return
        "transceiver for \(kind) not found: the offer's SDP has no section with the mid \"\(mid)\""
        + " that its own key mid names; check the server's version"
    }
    let text =
      "SDP: the offer's section for \(kind), mid \"\(mid)\", can't be used: \(rejected.reason)"
    guard case .noCommonCodec = rejected.reason else { return text }
    return text + "; ask the server for one of these codecs, or leave \(kind) out"
  }

  /// Sets the layers that the server asks for on the senders that have layers of these names. It comes after the description, which
  /// names them, and before the answer, which tells the server what is paused.
  ///
  /// - Parameter known: the layers that each sender had before the description; what the app has changed of those stays.
  private func apply(
    _ encodings: [SignalingOffer.Encoding], to peer: RTCPeerConnection,
    except known: [String: [String?]] = [:]
  ) {
    for sender in peer.senders where sender.track is RTCVideoTrack {
      var parameters = sender.parameters
      for index in parameters.encodings.indices {
        let rid = parameters.encodings[index].rid
        guard let encoding = encodings.first(where: { $0.rid == rid }),
          known[sender.senderId]?.contains(rid) != true
        else { continue }
        parameters.encodings[index] = encoding.rtpEncodingParameters
      }
      if parameters.encodings != sender.parameters.encodings { sender.parameters = parameters }
    }
  }

  // MARK: Later offers

  /// - Parameter transport: where the offer came from.
  func renegotiate(
    _ sdp: String, over transport: SignalingTransport, reply: (String) -> SignalingMessage
  ) async {
    let (peer, encodings) = storage.withLock { ($0.peer, $0.encodings) }
    guard let peer else {
      return Logger.warn(type: .signalingChannel, message: "an offer out of turn was ignored")
    }
    let known = Dictionary(
      peer.senders.map { ($0.senderId, $0.parameters.encodings.map(\.rid)) },
      uniquingKeysWith: { first, _ in first })
    do {
      try await apply(sdp, to: peer)
      apply(encodings, to: peer, except: known)
      say(reply(try await answer(on: peer)), over: transport)
    } catch {
      failed(error)
    }
  }

  // MARK: Steps

  private func apply(_ sdp: String, to peer: RTCPeerConnection) async throws(NegotiationFailure) {
    do {
      try await peer.setRemoteDescription(RTCSessionDescription(type: .offer, sdp: sdp))
    } catch {
      throw NegotiationFailure(reason: "SDP: the server's offer can't be applied: \(error)")
    }
  }

  private func answer(on peer: RTCPeerConnection) async throws(NegotiationFailure) -> String {
    let answer: RTCSessionDescription
    do {
      answer = try await peer.answer(for: configuration.webRTCConfiguration.constraints.native)
    } catch {
      throw NegotiationFailure(reason: "SDP: failed to create answer: \(error)")
    }
    do {
      try await peer.setLocalDescription(answer)
    } catch let error as RTCSetupError {
      throw NegotiationFailure(reason: "setup: \(error)")
    } catch {
      throw NegotiationFailure(reason: "SDP: the answer can't be applied: \(error)")
    }
    return answer.sdp
  }

  private func failed(_ failure: NegotiationFailure) {
    end(
      SoraError.peerChannelError(reason: failure.reason), reason: failure.reason,
      in: [.connecting, .connected])
  }
}
