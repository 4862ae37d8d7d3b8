import SoraMedia

/// What is known of the other end once there is an association: RFC 9260's transmission control block (§14).
final class Peer {
  let localTag: UInt32
  let tag: UInt32
  let capabilities: SCTPCapabilities
  let receiver: Receiver
  let transmitter: Transmitter
  var resets: StreamResets
  var heartbeat: Heartbeat
  var pathMTU: PathMTU

  init(
    cookie: StateCookie, settings: SCTPConfiguration, capabilities: SCTPCapabilities,
    receiver: Receiver, transmitter: Transmitter, at now: Instant
  ) {
    localTag = cookie.localTag
    tag = cookie.peerTag
    self.capabilities = capabilities
    self.receiver = receiver
    self.transmitter = transmitter
    resets = StreamResets(
      localFirst: cookie.localFirstTSN, peerFirst: cookie.peerFirstTSN,
      errorLimit: settings.maximumRetransmissions)
    heartbeat = Heartbeat(settings: settings, at: now)
    pathMTU = PathMTU(settings: settings, at: now)
  }
}
