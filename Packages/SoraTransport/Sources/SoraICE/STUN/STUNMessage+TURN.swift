import SoraWire

// The attributes of long-term credentials (RFC 8489 §14) and of TURN (RFC 8656 §18); nil where there is none.
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

  var passwordAlgorithm: STUNPasswordAlgorithm? {
    for case .passwordAlgorithm(let algorithm) in attributes { return algorithm }
    return nil
  }

  var userhash: [UInt8]? {
    for case .userhash(let bytes) in attributes { return bytes }
    return nil
  }

  var requestedTransport: UInt8? {
    for case .requestedTransport(let number) in attributes { return number }
    return nil
  }

  /// The family asked for; nil where it is one that doesn't exist.
  func requestedFamily(orElse fallback: STUNAddressFamily) -> STUNAddressFamily? {
    for attribute in attributes {
      switch attribute {
      case .requestedAddressFamily(let family): return family
      case .other(STUNAttributeType.requestedAddressFamily, _): return nil
      default: continue
      }
    }
    return fallback
  }

  /// Whether EVEN-PORT wants the next port too; nil without EVEN-PORT.
  var evenPort: Bool? {
    for case .evenPort(let reservesNext) in attributes { return reservesNext }
    return nil
  }

  var peers: [TransportAddress] {
    attributes.compactMap {
      if case .xorPeerAddress(let peer) = $0 { return peer }
      return nil
    }
  }

  var channelNumber: UInt16? {
    for case .channelNumber(let number) in attributes { return number }
    return nil
  }
}
