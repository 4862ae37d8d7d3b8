/// An IP address with a UDP or TCP port.
public struct TransportAddress: Hashable, Sendable {
  /// The address of the host.
  public var ip: IPAddress
  /// The port, 0...65535; 0 asks a socket to choose one.
  public var port: UInt16

  public init(ip: IPAddress, port: UInt16) {
    self.ip = ip
    self.port = port
  }
}

extension TransportAddress: LosslessStringConvertible {
  /// Reads `192.0.2.1:3478` or `[2001:db8::1]:3478`.
  public init?(_ text: String) {
    let characters = text.utf8
    guard characters.count <= 64, let colon = characters.lastIndex(of: UInt8(ascii: ":")),
      let port = decimal(characters[characters.index(after: colon)...], limit: 65535)
    else { return nil }
    let host = characters[..<colon]
    if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]"), host.count > 2 {
      guard let ip = IPAddress(String(Substring(host.dropFirst().dropLast()))), ip.isV6 else {
        return nil
      }
      self.init(ip: ip, port: UInt16(port))
    } else {
      guard let ip = IPAddress(String(Substring(host))), ip.isV4 else { return nil }
      self.init(ip: ip, port: UInt16(port))
    }
  }

  /// `192.0.2.1:3478` or `[2001:db8::1]:3478`.
  public var description: String { ip.isV4 ? "\(ip):\(port)" : "[\(ip)]:\(port)" }
}
