import CSoraNetwork
import SoraICE

extension sora_net_address {
  @inline(__always)
  init(_ address: TransportAddress) {
    self.init()
    port = address.port
    if let v4 = address.ip.v4Bits {
      family = 4
      low = UInt64(v4)
    } else if let v6 = address.ip.v6Bits {
      family = 6
      high = v6.0
      low = v6.1
    }
  }

  @inline(__always)
  var ip: IPAddress {
    family == 4 ? IPAddress(v4: UInt32(truncatingIfNeeded: low)) : IPAddress(v6: (high, low))
  }

  @inline(__always)
  var transportAddress: TransportAddress { TransportAddress(ip: ip, port: port) }

  @inline(__always)
  func isEqual(_ other: sora_net_address) -> Bool {
    low == other.low && port == other.port && high == other.high && family == other.family
  }
}
