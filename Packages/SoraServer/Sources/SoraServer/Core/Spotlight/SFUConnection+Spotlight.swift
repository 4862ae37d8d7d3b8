import SoraMedia
import SoraRTP
import SoraSignalingMessages

// What this client sees and hears by its channel's spotlight, and its own place in it.
extension SFUConnection {
  /// A packet of this connection's audio has come. No cost where the channel has no spotlight.
  func speak(_ level: RTPAudioLevel?, on track: PublishedTrack, at now: Instant) {
    guard
      let isHeard = channel.spotlight?.hear(level, of: connectionID, at: now)
    else { return }
    track.isHeard = isHeard
    if channel.spotlight?.hasChanged == true { core.spotlightChanged(in: channel, at: now) }
  }

  /// The layer that the client is to be sent of a sender's simulcast; nil for the highest that its link has room for. In a spotlight
  /// the lower of what that gives and what else is asked for.
  func wishedRid(of sender: String) -> SignalingRid? {
    let asked = downlink.wishes[sender]
    guard let rids = downlink.spotlight?[sender] else { return asked }
    let isFocused = channel.spotlight?.isFocused(sender) ?? false
    let shown = isFocused ? rids.focus : rids.unfocus
    return asked?.lower(shown) ?? shown
  }

  func wish(of source: PublishedTrack) -> LayerChoice.Wish {
    source.offered.wish(for: wishedRid(of: source.publisherID))
  }

  /// Layers of one sender, or of all, follow the spotlight anew.
  func chooseBySpotlight(of sender: String?, at now: Instant) {
    guard downlink.spotlight != nil else { return }
    choose(of: sender, at: now)
  }

  /// - Returns: whether the client uses the spotlight.
  func requestSpotlight(_ layers: SFUSpotlightChange.Layers, at now: Instant) -> Bool {
    guard downlink.spotlight != nil else { return false }
    downlink.spotlight?.set(layers.rids, of: layers.sender)
    choose(of: layers.sender, at: now)
    return true
  }

  /// - Returns: whether the client uses the spotlight.
  func resetSpotlight(of sender: String?, at now: Instant) -> Bool {
    guard downlink.spotlight != nil else { return false }
    downlink.spotlight?.reset(of: sender)
    choose(of: sender, at: now)
    return true
  }

  var spotlightStatus: SFUConnectionStatus.Spotlight {
    SFUConnectionStatus.Spotlight(
      isEnabled: downlink.spotlight != nil,
      isFocused: channel.spotlight?.isFocused(connectionID) ?? false,
      isFixed: channel.spotlight?.isFixed(connectionID) ?? false)
  }
}
