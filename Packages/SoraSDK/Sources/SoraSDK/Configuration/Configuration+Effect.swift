import SoraSignaling

extension Configuration {
  /// Settings that differ from their default and change nothing about this connection, each with the reason.
  ///
  /// - Parameter offer: the server's, which says what became of what was asked for.
  func settingsWithoutEffect(in offer: SignalingOffer) -> [String] {
    var found: [String] = []
    func note(_ setting: String, if isIdle: Bool, _ reason: String) {
      if isIdle { found.append("\(setting) (\(reason))") }
    }
    let noChannels = "the server's offer has no data channels"
    let hasChannels = offer.channels != nil
    note("dataChannelSignaling", if: dataChannelSignaling == true && !hasChannels, noChannels)
    let missing = dataChannelConfigurations.map(\.label).filter { label in
      offer.channels?.contains { $0.label == label } != true
    }
    note(
      "dataChannels", if: !missing.isEmpty,
      hasChannels ? "the server's offer has no \(missing.joined(separator: ", "))" : noChannels)
    note(
      "ignoreDisconnectWebSocket",
      if: ignoreDisconnectWebSocket == true
        && (!hasChannels || offer.ignoreDisconnectWebSocket == false),
      hasChannels ? "the server's offer doesn't allow it" : noChannels)
    let sendsVideo = role.sends && videoEnabled
    let onlyWithVideo = "only with videoEnabled and a role that sends"
    note("cameraSettings", if: !cameraSettings.asksForDefault && !sendsVideo, onlyWithVideo)
    note(
      "webRTCConfiguration.degradationPreference",
      if: webRTCConfiguration.degradationPreference != nil && !sendsVideo, onlyWithVideo)
    note(
      "webRTCConfiguration.constraints",
      if: webRTCConfiguration.constraints != MediaConstraints(), "the engine knows none")
    note(
      "webRTCConfiguration.iceServerInfos",
      if: !webRTCConfiguration.iceServerInfos.isEmpty && offer.configuration != nil,
      "the server's offer names its own")
    note(
      "simulcastEnabled", if: simulcastEnabled && offer.simulcast != true,
      "the server's offer has no simulcast")
    note(
      "simulcastMulticodec",
      if: simulcastMulticodec == true && !(simulcastEnabled && offer.simulcastMulticodec == true),
      simulcastEnabled ? "the server's offer has one codec" : "only with simulcastEnabled")
    let receivesLayers = simulcastEnabled && role.receives
    let onlyWithLayers = "only with simulcastEnabled and a role that receives"
    note("simulcastRid", if: simulcastRid != nil && !receivesLayers, onlyWithLayers)
    note(
      "simulcastRequestRid", if: simulcastRequestRid != .unspecified && !receivesLayers,
      onlyWithLayers)
    let isSpotlight = spotlightEnabled == .enabled
    note(
      "spotlightEnabled", if: isSpotlight && offer.spotlight != true,
      "the server's offer has no spotlight")
    let onlyWith = "only with spotlightEnabled"
    note("spotlightNumber", if: !isSpotlight && spotlightNumber != nil, onlyWith)
    note("spotlightFocusRid", if: !isSpotlight && spotlightFocusRid != .unspecified, onlyWith)
    note("spotlightUnfocusRid", if: !isSpotlight && spotlightUnfocusRid != .unspecified, onlyWith)
    note(
      "multistreamEnabled", if: !multistreamEnabled && usesMultistream,
      "role sendrecv and spotlight always have it")
    return found
  }
}
