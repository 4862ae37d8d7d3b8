import SoraICE
import SoraMedia
import SoraRTP
import SoraTransport

// Offers that follow what is published in the channel, one at a time.
extension SFUConnection {
  private static let maximumSections = 400

  /// The client's own sections come first: official clients attach their tracks to the first of each kind.
  func makeUploadSections() {
    var codecs: [SFUCodec] = []
    if request.role.sends {
      if request.audio != nil { codecs.append(opus) }
      if let video = request.video, let codec = SFUCodec.video(video) { codecs.append(codec) }
    }
    for codec in codecs {
      let types = payloadTypes.assignment(of: codec)
      let track = PublishedTrack(
        codec: codec, types: types, mid: SFUIdentifier.makeMid(codec.kind, core.random),
        publisherID: connectionID, trackID: SFUIdentifier.make(core.random))
      uplink.add(track)
      sections.append(
        SFUSection(
          kind: codec.kind, mid: track.mid, content: .upload(track), codec: codec, types: types))
    }
    if sections.isEmpty {
      sections.append(
        SFUSection(
          kind: .audio, mid: SFUIdentifier.makeMid(.audio, core.random), content: .anchor,
          codec: opus, types: payloadTypes.assignment(of: opus)))
    }
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
      $0.simulcast = false
      $0.simulcastMulticodec = false
      $0.spotlight = false
      $0.multistream = true
      $0.dataChannelSignaling = false
      $0.ignoreDisconnectWebSocket = false
      $0.audio = request.audio != nil
      $0.audioCodecType = request.audio == nil ? nil : "OPUS"
      $0.audioBitRate = request.audio?.bitRate
      $0.video = request.video != nil
      $0.videoCodecType = request.video.map { $0.codecType?.uppercased() ?? "VP9" }
      $0.videoBitRate = request.video?.bitRate
    }
    core.emit(.offer(offer), to: peer)
  }

  /// Offers what has changed in the channel, now or when the exchange under way has ended.
  func synchronize(at now: Instant) {
    guard !isEnded else { return }
    guard answerBy == nil, hasAnswered else {
      needsOffer = true
      return
    }
    needsOffer = false
    guard applyChanges() else { return }
    core.emit(.reOffer(sdp: describe(at: now)), to: peer)
  }

  private func describe(at now: Instant) -> String {
    descriptionVersion += 1
    answerBy = now + core.configuration.answerTimeout
    return SFUDescription.offer(of: self)
  }

  // MARK: What is received

  /// The tracks that this connection should be sent, in the order of their publishers.
  private var wantedTracks: [PublishedTrack] {
    guard request.role.receives else { return [] }
    var tracks: [PublishedTrack] = []
    for member in channel.members
    where member !== self && member.isConnected && member.bundleID != bundleID {
      for track in member.uplink.tracks
      where track.terms.isSending && receives(track.kind) && !refusedTracks.contains(track.trackID)
      {
        tracks.append(track)
      }
    }
    return tracks
  }

  /// Brings the sections in line with the channel. Returns whether anything changed.
  private func applyChanges() -> Bool {
    var wanted = wantedTracks
    var hasChanged = false
    for index in sections.indices {
      guard case .forward(let subscription) = sections[index].content else { continue }
      if let position = wanted.firstIndex(where: { $0 === subscription.source }) {
        wanted.remove(at: position)
      } else {
        detach(subscription)
        sections[index].content = .none
        sections[index].isStopped = true
        sections[index].isRecyclable = false
        hasChanged = true
      }
    }
    for track in wanted where add(track) { hasChanged = true }
    return hasChanged
  }

  private func add(_ track: PublishedTrack) -> Bool {
    let free = sections.firstIndex { $0.isRecyclable && $0.kind == track.kind }
    guard free != nil || sections.count < Self.maximumSections else {
      dropped.tooManySections += 1
      return false
    }
    // One setting of Opus for all sections: a payload type has one meaning, and what a receiver may send matters to
    // nobody here.
    let codec = track.kind == .audio ? opus : track.codec
    let types = payloadTypes.assignment(of: codec)
    let mid = SFUIdentifier.makeMid(track.kind, core.random)
    let ssrc = makeSSRC()
    let parameters = RTPTrackSender.Parameters(
      kind: track.kind, ssrc: ssrc, rtx: types.rtx.map { (makeSSRC(besides: ssrc), $0) },
      mid: RTPExtensionText(mid), clockRate: track.codec.clockRate, cname: track.publisherID)
    let subscription = SubscribedTrack(
      source: track, subscriber: self, slot: downlink.nextSlot, parameters, types: types,
      random: core.random)
    downlink.add(subscription)
    track.add(subscription)
    let section = SFUSection(
      kind: track.kind, mid: mid, content: .forward(subscription),
      codec: codec, types: types)
    if let free { sections[free] = section } else { sections.append(section) }
    return true
  }

  private func makeSSRC(besides other: UInt32 = 0) -> UInt32 {
    while true {
      let ssrc = UInt32(truncatingIfNeeded: core.random.next())
      let isTaken =
        ssrc == 0 || ssrc == other || ssrc == rtcp.reporterSSRC || downlink.uses(ssrc)
      if !isTaken { return ssrc }
    }
  }

  // MARK: Answers

  func receiveAnswer(_ text: String, at now: Instant) {
    guard answerBy != nil else {
      dropped.unexpectedMessage += 1
      return
    }
    let answer: SFUAnswer
    do throws(SFUAnswerError) {
      answer = try SFUAnswer(parsing: text, to: sections)
    } catch {
      return end(.refused("INVALID-ANSWER: \(error.reason)"), at: now)
    }
    answerBy = nil
    for index in sections.indices { apply(answer.sections[index], index, at: now) }
    if !hasAnswered {
      hasAnswered = true
      start(answer.transport, at: now)
    }
    if !isEnded, needsOffer { synchronize(at: now) }
  }

  private func apply(_ answer: SFUAnswer.Section, _ index: Int, at now: Instant) {
    switch sections[index].content {
    case .upload(let track):
      // Settled with the first answer: later offers repeat it.
      guard !hasAnswered else { return }
      uplink.apply(
        PublishedTrack.Terms(
          isSending: answer.sends && answer.payloadTypes.contains(track.types.media),
          extensions: answer.extensions,
          sendsNack: answer.nackTypes.contains(track.types.media)), to: track)
    case .forward(let subscription):
      if answer.isRejected {
        refusedTracks.insert(subscription.source.trackID)
        detach(subscription)
        sections[index].content = .none
        sections[index].isStopped = true
        sections[index].isRecyclable = true
        return
      }
      let isNew = subscription.apply(
        isActive: answer.receives && answer.payloadTypes.contains(subscription.types.media),
        extensions: answer.extensions,
        acceptsNack: answer.nackTypes.contains(subscription.types.media)
          && subscription.types.rtx.map { answer.payloadTypes.contains($0) } ?? false)
      if isNew, transport.isWritable { requestKeyFrame(of: subscription.source, at: now) }
    case .anchor: break
    case .none: sections[index].isRecyclable = true
    }
  }

  private func start(_ remote: SFUAnswer.Transport, at now: Instant) {
    transport.start(
      PeerTransport.RemoteDescription(
        ice: remote.ice, fingerprint: remote.fingerprint, localRole: remote.localRole), at: now)
    for candidate in remote.candidates { transport.addRemoteCandidate(candidate, at: now) }
    if remote.endOfCandidates { transport.endOfRemoteCandidates(at: now) }
  }
}
