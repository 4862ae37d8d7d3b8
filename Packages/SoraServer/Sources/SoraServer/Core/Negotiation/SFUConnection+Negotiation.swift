import SoraDTLS
import SoraDataChannel
import SoraICE
import SoraMedia
import SoraRTP
import SoraTransport

// Offers that follow what is published in the channel, one at a time.
extension SFUConnection {
  /// The client's own sections come first: official clients attach their tracks to the first of each kind.
  func makeUploadSections() {
    let simulcast =
      request.usesSimulcast ? request.simulcast ?? core.simulcast : SimulcastOffer()
    var codecs: [SFUCodec] = []
    if request.role.sends {
      if let audio = request.audio { codecs.append(SFUCodec.audio(audio) ?? sections.opus) }
      if let video = request.video, let codec = SFUCodec.video(video) { codecs.append(codec) }
    }
    for codec in codecs {
      let types = sections.assignment(of: codec)
      let track = PublishedTrack(
        codec: codec, types: types, mid: SFUIdentifier.makeMid(codec.kind, core.random),
        publisherID: connectionID, trackID: SFUIdentifier.make(core.random),
        offered: codec.kind == .video ? simulcast : SimulcastOffer())
      uplink.add(track)
      sections.put(
        SFUSection(
          kind: codec.kind, mid: track.mid, content: .upload(track), codec: codec, types: types))
    }
    // Who hasn't asked for data channels may turn them down, and then there would be nothing to bundle: the first section has the
    // transport.
    let mayHaveNothingElse =
      request.dataChannelSignaling != true && (request.audio != nil || request.video != nil)
    if codecs.isEmpty, signaling.channels == nil || mayHaveNothingElse {
      sections.put(
        SFUSection(
          kind: .audio, mid: SFUIdentifier.makeMid(.audio, core.random), content: .anchor,
          codec: sections.opus, types: sections.assignment(of: sections.opus)))
    }
    if signaling.channels != nil { sections.putData() }
  }

  func sendOffer(at now: Instant) {
    _ = applyChanges()
    let sdp = describe(at: now)
    let offer = OfferMessage(sdp: sdp, connectionID: connectionID) {
      $0.clientID = clientID
      $0.bundleID = bundleID
      $0.channelID = channel.id
      $0.sessionID = channel.sessionID
      $0.version = core.configuration.version
      $0.mid = Dictionary(
        uplink.tracks.map { ($0.kind.rawValue, $0.mid) }, uniquingKeysWith: { first, _ in first })
      $0.simulcast = request.usesSimulcast
      // A client may take their presence for simulcast.
      let encodings = uplink.tracks.first { !$0.offered.isEmpty }?.offered.encodings
      $0.encodings = encodings
      $0.simulcastMulticodec = false
      $0.spotlight = request.spotlight ?? false
      $0.multistream = true
      $0.metadata = request.grant.authzMetadata
      $0.dataChannelSignaling = signaling.channels != nil
      $0.ignoreDisconnectWebSocket = signaling.ignoresWebSocket
      $0.dataChannels = signaling.channels?.announced
      $0.rpcMethods = signaling.channels == nil ? nil : request.rpcMethods
      $0.audio = request.audio != nil
      $0.audioCodecType = request.audio.map { $0.codecType?.uppercased() ?? "OPUS" }
      $0.audioBitRate = request.audio?.bitRate
      $0.video = request.video != nil
      $0.videoCodecType = request.video.map { $0.codecType?.uppercased() ?? "VP9" }
      $0.videoBitRate = request.video?.bitRate
    }
    tell(.offer(offer), at: now)
  }

  /// Offers what has changed in the channel, now or when the exchange under way has ended.
  func synchronize(at now: Instant) {
    guard !isEnded else { return }
    if exchange.isAnswered { return follow(at: now) }
    guard exchange.want(), applyChanges() else { return }
    tell(.reOffer(sdp: describe(at: now)), at: now)
  }

  private func describe(at now: Instant) -> String {
    exchange.offer(answerBy: now + core.configuration.answerTimeout)
    return description.offer
  }

  private var description: SFUDescription {
    SFUDescription(
      exchange: exchange, sections: sections,
      maximumMessageSize: core.configuration.data.maximumMessageSize,
      offersFeedbackBySource: core.configuration.offersFeedbackBySource,
      ice: transport.ice.localParameters,
      candidates: transport.ice.localCandidates,
      fingerprint: core.configuration.certificate.fingerprint, request: request)
  }

  // MARK: What is received

  /// The tracks that this connection should be sent, in the order of their publishers.
  var wantedTracks: [PublishedTrack] {
    guard request.role.receives else { return [] }
    var tracks: [PublishedTrack] = []
    for member in channel.members
    where !member.uplink.tracks.isEmpty && member !== self && member.isConnected
      && member.bundleID != bundleID
    {
      for track in member.uplink.tracks
      where track.terms.isSending && receives(track.kind) && !sections.isRefused(track)
        && lets(track.kind, from: member)
      {
        tracks.append(track)
      }
    }
    return tracks
  }

  /// Brings the sections in line with the channel. Returns whether anything changed.
  private func applyChanges() -> Bool {
    sections.keepRefused { channel.members.flatMap(\.uplink.tracks).map(\.trackID) }
    var wanted = wantedTracks
    var hasChanged = false
    for index in sections.indices {
      guard case .forward(let subscription) = sections[index].content else { continue }
      if let position = wanted.firstIndex(where: { $0 === subscription.source }) {
        wanted.remove(at: position)
      } else {
        drop(subscription)
        sections.stop(index)
        hasChanged = true
      }
    }
    var waiting: [PublishedTrack] = []
    for track in wanted {
      // Behind one that waits others of its kind do, too.
      if !waiting.contains(where: { $0.kind == track.kind }), add(track) {
        hasChanged = true
      } else {
        waiting.append(track)
      }
    }
    dropped.tooManySections += sections.wait(waiting.map(\.trackID))
    return hasChanged
  }

  /// - Returns: whether there is a place for it.
  private func add(_ track: PublishedTrack) -> Bool {
    let isOpus = AudioCodecKind(encodingName: track.codec.name) == .opus
    let codec = isOpus ? sections.opus : track.codec
    let types = sections.assignment(of: codec)
    let mid = SFUIdentifier.makeMid(track.kind, core.random)
    let parameters = RTPTrackSender.Parameters(
      kind: track.kind, ssrc: makeSSRC(), rtx: types.rtx.map { (makeSSRC(), $0) },
      mid: RTPExtensionText(mid), clockRate: track.codec.clockRate, cname: track.publisherID)
    let subscription = SubscribedTrack(
      source: track, subscriber: self, transport: transport, controller: downlink.controller,
      slot: downlink.nextSlot, RTPTrackSender(parameters, random: core.random), types: types,
      followsSpotlight: track.kind == .audio && downlink.spotlight != nil,
      rewriter: PacketRewriter(for: track.stream, core.random))
    var section = SFUSection(
      kind: track.kind, mid: mid, content: .forward(subscription), codec: codec, types: types)
    section.size = description.size(of: section)
    guard let place = sections.place(for: section) else { return false }
    if track.isSimulcast { subscription.wish = wish(of: track) }
    downlink.add(subscription)
    track.add(subscription)
    sections.put(section, at: place)
    return true
  }

  /// A source that the client hasn't been sent yet.
  func makeSSRC() -> UInt32 {
    while true {
      let ssrc = sections.sources.take(core.random)
      if ssrc != 0, ssrc != rtcp.reporterSSRC { return ssrc }
    }
  }

  /// Lets go of a subscription for good: nothing leaves from its sources any more.
  private func drop(_ subscription: SubscribedTrack) {
    detach(subscription)
    transport.forgetSource(subscription.ssrc)
    if let rtx = subscription.sender.parameters.rtx { transport.forgetSource(rtx.ssrc) }
  }

  // MARK: Answers

  func receiveAnswer(_ text: String, at now: Instant) {
    guard exchange.answerBy != nil else {
      dropped.unexpectedMessage += 1
      return
    }
    let answer: SFUAnswer
    do throws(SFUAnswerError) {
      answer = try SFUAnswer(
        parsing: text, to: sections,
        offersFeedbackBySource: core.configuration.offersFeedbackBySource)
    } catch {
      return end(.refused("INVALID-ANSWER: \(error.reason)"), at: now)
    }
    let isFirst = exchange.settle()
    for index in sections.indices {
      apply(answer.sections[index], index, isFirst: isFirst, at: now)
    }
    if isFirst {
      start(answer.transport, at: now)
      start(answer.data, over: answer.transport, at: now)
    }
    // With a section that the client has agreed to give up there may be a place for what had none.
    if !isEnded, exchange.isWanted || sections.isWaitedFor { synchronize(at: now) }
    if !isEnded { switchWhereDue(at: now) }
  }

  private func apply(
    _ answer: SFUAnswer.Section, _ index: Int, isFirst: Bool, at now: Instant
  ) {
    switch sections[index].content {
    case .upload(let track):
      // Settled with the first answer: later offers repeat it.
      guard isFirst else { return }
      uplink.apply(
        PublishedTrack.Terms(
          isSending: answer.sends && answer.payloadTypes.contains(track.types.media),
          extensions: answer.extensions,
          sendsNack: answer.nackTypes.contains(track.types.media), feedback: answer.feedback),
        rids: answer.rids, to: track)
      rtcp.feedbackKind = uplink.feedback
    case .forward(let subscription):
      if answer.isRejected {
        drop(subscription)
        return sections.refuse(subscription.source.trackID, in: index)
      }
      let isNew = subscription.apply(
        isActive: answer.receives && answer.payloadTypes.contains(subscription.types.media),
        extensions: answer.extensions, isReportedBySource: answer.feedback == .bySource,
        acceptsNack: answer.nackTypes.contains(subscription.types.media)
          && subscription.types.rtx.map { answer.payloadTypes.contains($0) } ?? false,
        accepted: subscription.types.accepted(answer.payloadTypes))
      if isNew, transport.isWritable { begin(subscription, at: now) }
    case .anchor: break
    case .none: sections.release(index)
    }
  }

  func start(_ remote: SFUAnswer.Transport, at now: Instant) {
    transport.start(
      PeerTransport.RemoteDescription(
        ice: remote.ice, fingerprint: remote.fingerprint, localRole: remote.localRole), at: now)
    for candidate in remote.candidates { transport.addRemoteCandidate(candidate, at: now) }
    if remote.endOfCandidates { transport.endOfRemoteCandidates(at: now) }
  }
}
