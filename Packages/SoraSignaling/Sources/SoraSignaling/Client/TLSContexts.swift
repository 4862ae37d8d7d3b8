import NIOCore
public import NIOSSL
import Synchronization

/// The TLS of connections that SwiftNIO carries: version 1.2 or later.
public enum TLSContexts {
  /// Those that know nothing but the system's authorities, by whether any certificate will do: reading a hundred and more takes
  /// milliseconds, so it is done once a process.
  private static let ofSystem = Mutex<[Bool: NIOSSLContext]>([:])

  /// Of a client.
  ///
  /// - Throws: `invalidConfiguration` with the file at fault.
  public static func client(_ options: TLSOptions) throws(SignalingError) -> NIOSSLContext {
    guard options.trust == .system, options.clientIdentity == nil else {
      return try makeClient(options)
    }
    return try ofSystem.withLock { contexts throws(SignalingError) in
      if let context = contexts[options.insecure] { return context }
      let made = try makeClient(options)
      contexts[options.insecure] = made
      return made
    }
  }

  private static func makeClient(_ options: TLSOptions) throws(SignalingError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.certificateVerification = options.insecure ? .none : .fullVerification
    switch options.trust {
    case .system: break
    case .file(let path):
      configuration.trustRoots = .certificates(
        try certificates("tls.trust", path) { try NIOSSLCertificate.fromPEMFile(path) })
    case .pem(let text):
      configuration.trustRoots = .certificates(
        try certificates("tls.trust", "PEM text") {
          try NIOSSLCertificate.fromPEMBytes(Array(text.utf8))
        })
    }
    if let identity = options.clientIdentity {
      let (chain, key) = try load(identity)
      configuration.certificateChain = chain
      configuration.privateKey = key
    }
    return try context(configuration)
  }

  /// Of a server.
  ///
  /// - Throws: `invalidConfiguration` with the file at fault.
  public static func server(_ identity: TLSOptions.Identity) throws(SignalingError)
    -> NIOSSLContext
  {
    let (chain, key) = try load(identity)
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain, privateKey: key)
    configuration.minimumTLSVersion = .tlsv12
    return try context(configuration)
  }

  private static func load(
    _ identity: TLSOptions.Identity
  ) throws(SignalingError) -> ([NIOSSLCertificateSource], NIOSSLPrivateKeySource) {
    let chain = try certificates("tls.certificateFile", identity.certificateFile) {
      try NIOSSLCertificate.fromPEMFile(identity.certificateFile)
    }
    do {
      let key = try NIOSSLPrivateKey(file: identity.keyFile, format: .pem)
      return (chain.map { .certificate($0) }, .privateKey(key))
    } catch {
      throw unusable(
        "tls.keyFile", identity.keyFile,
        reason(error) ?? "it holds no PEM private key, or one with a passphrase")
    }
  }

  private static func certificates(
    _ field: String, _ source: String, _ load: () throws -> [NIOSSLCertificate]
  ) throws(SignalingError) -> [NIOSSLCertificate] {
    let certificates: [NIOSSLCertificate]
    do {
      certificates = try load()
    } catch {
      throw unusable(field, source, reason(error) ?? "it holds no PEM certificate")
    }
    guard !certificates.isEmpty else {
      throw unusable(field, source, "it holds no PEM certificate")
    }
    return certificates
  }

  private static func context(
    _ configuration: TLSConfiguration
  ) throws(SignalingError) -> NIOSSLContext {
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch {
      // Both could be read by themselves.
      let isMismatch = if case NIOSSLError.failedToLoadPrivateKey = error { true } else { false }
      throw unusable(
        "tls", "certificate and key",
        isMismatch ? "the key is not the certificate's" : SystemErrorText.words(error))
    }
  }

  /// Why a file can't be read at all; nil for one whose content is at fault.
  private static func reason(_ error: any Error) -> String? {
    error is IOError ? SystemErrorText.words(error) : nil
  }

  private static func unusable(
    _ field: String, _ value: String, _ detail: String
  ) -> SignalingError {
    SignalingError(
      stage: .configuration, code: .invalidConfiguration, field: field, value: value,
      detail: "a TLS file can't be used: \(detail)",
      wayOut: "give readable PEM files, the key without a passphrase")
  }
}
