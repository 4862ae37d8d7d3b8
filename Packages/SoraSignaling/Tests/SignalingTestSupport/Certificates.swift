public import Foundation
public import SoraSignaling

/// A CA, a server's and a client's certificate, made by the `openssl` command.
public struct Certificates: Sendable {
  public let directory: URL

  /// One set for all tests.
  public static let shared = Task { try await Certificates() }

  private init() async throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-signaling-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try await openssl(
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem "
        + "-days 2 -subj /CN=TestCA")
    try await leaf("server", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    try await leaf("other", "subjectAltName=DNS:elsewhere.example")
  }

  private func leaf(_ name: String, _ extensions: String) async throws {
    try Data(extensions.utf8).write(to: directory.appendingPathComponent("\(name).ext"))
    try await openssl(
      "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout \(name).key "
        + "-out \(name).csr -subj /CN=\(name)")
    try await openssl(
      "x509 -req -in \(name).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 "
        + "-extfile \(name).ext -out \(name).pem")
  }

  private func openssl(_ arguments: String) async throws {
    try await runToEnd(
      "openssl", arguments.split(separator: " ").map(String.init), in: directory)
  }

  /// A certificate's public key (`SubjectPublicKeyInfo` in DER), as openssl writes it.
  public func publicKey(_ name: String) async throws -> [UInt8] {
    let file = "\(name)-\(UUID().uuidString).spki"
    try await openssl("pkey -in \(name).key -pubout -outform der -out \(file)")
    return Array(try Data(contentsOf: directory.appendingPathComponent(file)))
  }

  public func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  public func identity(_ name: String) -> TLSOptions.Identity {
    TLSOptions.Identity(certificateFile: path("\(name).pem"), keyFile: path("\(name).key"))
  }
}
