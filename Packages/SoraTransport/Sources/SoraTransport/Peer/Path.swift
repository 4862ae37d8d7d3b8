package import SoraICE

/// A way to the peer: our base, its address, and the relay that carries the packets where the base is one.
package struct Path {
  package let local: TransportAddress
  package let remote: TransportAddress
  package let relay: ICERelay?

  package init(local: TransportAddress, remote: TransportAddress, relay: ICERelay?) {
    self.local = local
    self.remote = remote
    self.relay = relay
  }

  /// The socket that its datagrams leave from; nil where a relay's stream carries them.
  var socket: TransportAddress? {
    guard let relay else { return local }
    return relay.base
  }
}
