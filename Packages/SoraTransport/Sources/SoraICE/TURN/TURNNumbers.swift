/// The methods of RFC 8656 §17.
enum TURNMethod {
  static let allocate: UInt16 = 3
  static let refresh: UInt16 = 4
  static let send: UInt16 = 6
  static let data: UInt16 = 7
  static let createPermission: UInt16 = 8
  static let channelBind: UInt16 = 9
}

enum TURNLimits {
  /// IP's number of UDP, in REQUESTED-TRANSPORT.
  static let udp: UInt8 = 17
  /// RFC 8656 §12: 0x4000 to 0x4FFF.
  static let firstChannel: UInt16 = 0x4000
  /// RFC 5766 §11 let clients choose up to here, and some still do.
  static let lastOldChannel: UInt16 = 0x7FFE
  /// RFC 8656 §9.
  static let permissionLifetime = Duration.seconds(300)
  /// RFC 8656 §12.
  static let channelLifetime = Duration.seconds(600)
}
