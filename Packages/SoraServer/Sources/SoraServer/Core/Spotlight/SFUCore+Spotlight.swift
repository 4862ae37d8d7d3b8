public import SoraMedia
import SoraSignalingMessages

// The spotlights of channels.
extension SFUCore {
  /// Changes a spotlight from outside.
  ///
  /// - Parameters:
  ///   - change: what becomes of it.
  ///   - channelID: whose it is.
  ///   - now: when it is changed.
  public func change(
    _ change: SFUSpotlightChange, channelID: String, at now: Instant
  ) -> SFUSpotlightOutcome {
    defer { deliver(at: now) }
    guard let channel = channel(channelID) else { return .notFound }
    switch change {
    case .focus(let id, let isFixed):
      return self.change(channel, of: id, at: now) { $0.focus(id, isFixed: isFixed, at: now) }
    case .unfocus(let id):
      return self.change(channel, of: id, at: now) {
        $0.unfocus(id)
        return true
      }
    case .number(let number):
      return self.change(channel, of: nil, at: now) {
        $0.setNumber(number)
        return true
      }
    case .request(let layers, let receiver):
      guard let receiver = channel.member(receiver),
        layers.allSatisfy({ $0.sender.map { channel.member($0) != nil } ?? true })
      else { return .notFound }
      for layer in layers {
        guard receiver.requestSpotlight(layer, at: now) else { return .noSpotlight }
      }
      return .done
    case .reset(let receiver, let sender):
      guard let receiver = channel.member(receiver),
        sender.map({ channel.member($0) != nil }) ?? true
      else { return .notFound }
      return receiver.resetSpotlight(of: sender, at: now) ? .done : .noSpotlight
    }
  }

  /// - Parameters:
  ///   - id: a connection that has to be there; nil for none.
  ///   - body: changes the spotlight, and says whether there was a place.
  private func change(
    _ channel: SFUChannel, of id: String?, at now: Instant, _ body: (inout Spotlight) -> Bool
  ) -> SFUSpotlightOutcome {
    if let id, channel.member(id) == nil { return .notFound }
    guard var spotlight = channel.spotlight else { return .noSpotlight }
    channel.spotlight = nil
    let isDone = body(&spotlight)
    channel.spotlight = spotlight
    spotlightChanged(in: channel, at: now)
    return isDone ? .done : .full
  }

  /// Somebody joins. A channel has a spotlight from the first on who asks for one; how many places it has says the first who names a
  /// number.
  func openSpotlight(in channel: SFUChannel, for request: SFUConnectRequest) {
    guard request.spotlight == true else { return }
    let standard = configuration.spotlight
    if channel.spotlight == nil {
      channel.spotlight = Spotlight(number: standard.number, delay: standard.delay)
    }
    guard let number = request.spotlightNumber, !channel.hasSpotlightNumber else { return }
    channel.hasSpotlightNumber = true
    channel.spotlight?.setNumber(number)
  }

  /// Tells everybody who came into the spotlight and who left it, and sends them other layers.
  func spotlightChanged(in channel: SFUChannel, at now: Instant) {
    guard let changes = channel.spotlight?.takeChanges() else { return }
    for change in changes {
      guard let subject = channel.member(change.id) else { continue }
      let type =
        change.isFocused ? NotifyEventType.spotlightFocused : NotifyEventType.spotlightUnfocused
      let event = NotifyMessage(eventType: type) {
        $0.timestamp = timestamp(at: now)
        $0.clientID = subject.clientID
        $0.connectionID = subject.connectionID
        $0.audio = subject.request.audio != nil
        $0.video = subject.request.video != nil
        $0.fixed = change.isFixed
        $0.spotlightNumber = channel.spotlight?.number
      }
      for member in channel.members where member.isConnected {
        member.tell(.event(event), at: now)
        member.chooseBySpotlight(of: change.id, at: now)
        touch(member)
      }
    }
  }
}
