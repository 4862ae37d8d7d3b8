import SoraWire

// The attributes of TURN and of challenges.
extension STUNMessage {
  var lifetime: UInt32? {
    for case .lifetime(let seconds) in attributes { return seconds }
    return nil
  }

  var relayedAddress: TransportAddress? {
    for case .xorRelayedAddress(let address) in attributes { return address }
    return nil
  }

  var alternateServer: TransportAddress? {
    for case .alternateServer(let address) in attributes { return address }
    return nil
  }

  var realm: [UInt8]? {
    for case .realm(let bytes) in attributes { return bytes }
    return nil
  }

  var nonce: [UInt8]? {
    for case .nonce(let bytes) in attributes { return bytes }
    return nil
  }

  var passwordAlgorithms: [STUNPasswordAlgorithm]? {
    for case .passwordAlgorithms(let list) in attributes { return list }
    return nil
  }
}
