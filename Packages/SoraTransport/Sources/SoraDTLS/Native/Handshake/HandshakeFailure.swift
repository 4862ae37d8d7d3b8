/// Why this end gives a handshake up, and the alert that tells the peer.
package struct HandshakeFailure: Error {
  var alert: DTLSAlert
  var reason: String
  /// What the owner gets to see, where it says more than the alert.
  var error: DTLSError?

  init(_ alert: DTLSAlert, _ reason: String, error: DTLSError? = nil) {
    self.alert = alert
    self.reason = reason
    self.error = error
  }

  static func decode(_ reason: String) -> HandshakeFailure {
    HandshakeFailure(.decodeError, reason)
  }

  static func illegalParameter(_ reason: String) -> HandshakeFailure {
    HandshakeFailure(.illegalParameter, reason)
  }

  static func unexpected(_ reason: String) -> HandshakeFailure {
    HandshakeFailure(.unexpectedMessage, reason)
  }

  static func library(_ reason: String) -> HandshakeFailure {
    HandshakeFailure(.internalError, reason, error: .library(reason: reason))
  }
}

extension DTLSAlert {
  static let unexpectedMessage = DTLSAlert(rawValue: 10)
  static let unsupportedCertificate = DTLSAlert(rawValue: 43)
  static let illegalParameter = DTLSAlert(rawValue: 47)
  static let decodeError = DTLSAlert(rawValue: 50)
  static let decryptError = DTLSAlert(rawValue: 51)
  static let internalError = DTLSAlert(rawValue: 80)
  static let userCanceled = DTLSAlert(rawValue: 90)
  static let noRenegotiation = DTLSAlert(rawValue: 100)
  static let missingExtension = DTLSAlert(rawValue: 109)
  static let unsupportedExtension = DTLSAlert(rawValue: 110)
  static let certificateRequired = DTLSAlert(rawValue: 116)
}
