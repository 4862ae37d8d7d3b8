package import SoraDTLS
package import SoraSRTP

/// SRTP over a transport's path, with keys of the DTLS handshake (RFC 5764), and the media that came before them.
package struct SRTPTransport {
  /// A key frame at the rates that calls begin with, and the audio beside it; the packets of a tenth of a second.
  private static let maximumEarlyPackets = 32

  /// Protects and unprotects; nil without keys.
  package private(set) var session: SRTPSession?
  /// Media that came before the keys, behind a last flight that was lost or overtaken: without what came first, a key frame mostly, a
  /// picture would take another round trip and another key frame. What follows can be asked for again.
  private var early = EarlyDatagrams(limit: maximumEarlyPackets)

  package init() {}

  /// Keeps a packet for later: either side sends once it has keys, which one of the two has first. RFC 5764 §5.1: nothing is
  /// unprotected before the handshake ends.
  ///
  /// - Returns: `false` where there is no room for it.
  package mutating func keep(_ packet: RawSpan) -> Bool { early.keep(packet) }

  /// Takes the keys that a handshake agreed on (RFC 5764 §4.2).
  package mutating func start(with session: DTLSSession) throws(SRTPError) {
    self.session = try SRTPSession(
      profile: session.profile,
      local: session.localKeyingMaterial, remote: session.remoteKeyingMaterial)
  }

  /// Gives the packets away that came before the keys, in their order.
  package mutating func takeEarly() -> [[UInt8]] { early.take() }

  /// Lets go of the keys.
  ///
  /// - Returns: how many packets waited for them in vain.
  package mutating func end() -> Int {
    session = nil
    return early.take().count
  }
}
