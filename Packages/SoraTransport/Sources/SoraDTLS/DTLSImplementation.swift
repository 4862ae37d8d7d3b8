/// Who speaks DTLS behind the seam.
public enum DTLSImplementation: String, Hashable, Sendable, CaseIterable {
  /// This project's own: 1.3 and 1.2, on the caller's time.
  case native
  /// libssl: 1.2, whose timer reads the machine's clock.
  case libssl

  /// What is used where nobody chooses.
  public static let standard = DTLSImplementation.native

  /// Makes a factory with its default settings.
  ///
  /// - Throws: ``DTLSError/library(reason:)``.
  public func makeFactory() throws(DTLSError) -> any DTLSEndpointFactory & Sendable {
    switch self {
    case .native: NativeDTLSFactory()
    case .libssl: try OpenSSLDTLSFactory()
    }
  }
}
