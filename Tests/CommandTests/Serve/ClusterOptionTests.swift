import Foundation
import Testing

/// Options of `sora serve` about a cluster, on the command line and in a file.
struct ClusterOptionTests {
  private let secret = "nobody-may-read-this"

  @Test func whatIsWrongIsToldWithoutThePassword() throws {
    for (arguments, part) in [
      (["--cluster", "http://:\(secret)@h:1"], "--cluster: only redis:// is spoken"),
      (["--cluster", "redis://:\(secret)@h:1/x"], "--cluster: the database is a number"),
      (["--cluster", "redis://h", "--host", "0.0.0.0"], "--node-url: with --host 0.0.0.0"),
      (["--cluster", "redis://h", "--node-url", "http://a"], "--node-url: URL http://a: write ws"),
      (["--node-url", "ws://a/signaling"], "--node-url: that is for servers of a cluster"),
      (
        ["--cluster", "redis://h", "--node-api-url", "http://a/"], "--node-api-url: there is no API"
      ),
      (
        ["--cluster", "redis://h", "--api-port", "0", "--api-host", "::"],
        "--node-api-url: with --api-host ::"
      ),
      (
        ["--cluster", "redis://h", "--cluster-password-file", "/none"],
        "--cluster-password-file /none: cannot read"
      ),
    ] {
      let run = try Run(["serve", "--port", "0"] + arguments)
      #expect(run.status == 2 && run.errors.contains(part), "\(run.errors)")
      #expect(!run.errors.contains(secret))
    }
    let play = try Run(["play", "ws://127.0.0.1:1/signaling", "--channel", "c", "--or-url", "x"])
    #expect(play.status == 2 && play.errors.contains("--or-url: URL x: write ws"), "\(play.errors)")
  }

  @Test func aFileKnowsThem() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-cluster-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func check(_ text: String) throws -> Run {
      let file = folder.appendingPathComponent("sora.conf")
      try Data(text.utf8).write(to: file)
      return try Run(["serve", "--config", file.path, "--check-config"])
    }
    let printed = try Run(["serve", "--print-config"]).output
    for key in ["cluster", "cluster-password-file", "node-url", "node-api-url", "api-host"] {
      #expect(printed.contains("\n#\(key) = "), "\(key)")
    }
    let good = try check(
      """
      host = "0.0.0.0"
      api-port = 3000
      api-host = "0.0.0.0"
      cluster = "redis://:\(secret)@10.0.0.1/2"
      node-url = "wss://one.example/signaling"
      node-api-url = "http://10.0.0.2:3000/"
      """)
    #expect(good.status == 0, "\(good.errors)")
    let bad = try check("port = 0\ncluster = \"redis://:\(secret)@h:99999\"\n")
    #expect(bad.status == 2 && bad.errors.contains("line 2: cluster: --cluster"), "\(bad.errors)")
    #expect(!bad.errors.contains(secret))
  }
}
