import Foundation
import SoraCommandSupport
import Testing

@Suite struct FindingTests {
  @Test func aLineSaysWhatAndTheNextWhatToDo() {
    #expect(Finding.ok("udp", "passes").lines() == ["ok    udp           passes"])
    let lines = Finding.fail("tls", "no TLS\u{1B}[2J", "use ws://").lines()
    #expect(
      lines == [
        "fail  tls           no TLS\\u{1b}[2J", String(repeating: " ", count: 20) + "-> use ws://",
      ])
    #expect(Finding.ok("a", "b").lines(isColored: true)[0].hasPrefix("\u{1B}[32mok  \u{1B}[0m"))
  }

  @Test func countsAndLinesOfJSON() throws {
    var counts = FindingCounts()
    let findings = [Finding.ok("a", "b"), .warn("c", "d", "e"), .fail("f", "g", "h")]
    for finding in findings { counts.add(finding) }
    #expect(counts.line == "1 ok, 1 warning, 1 failed")
    #expect(counts.jsonLine == #"{"fail":1,"ok":1,"type":"summary","warn":1}"#)
    #expect(
      findings[1].jsonLine
        == #"{"advice":"e","check":"c","detail":"d","state":"warn","type":"check"}"#)
  }

  private static let day: Int64 = 86_400
  private static let now: Int64 = 1_800_000_000

  @Test(arguments: [
    (-10, 100, Bool?.some(true), Finding.State.ok, "for localhost, until "),
    (-10, 3, true, .warn, "3 days are left"),
    (-10, 100, false, .fail, "not trusted for localhost"),
    (-10, 100, Bool?.none, .warn, "nobody checked"),
    (-10, -1, false, .fail, "expired on "),
    (1, 100, false, .fail, "not good before "),
  ])
  func certificates(
    _ from: Int64, _ until: Int64, _ isTrusted: Bool?, _ state: Finding.State, _ text: String
  ) {
    let finding = Finding.certificate(
      names: ["localhost"], notBefore: Self.now + from * Self.day,
      notAfter: Self.now + until * Self.day, now: Self.now, isTrusted: isTrusted, host: "localhost")
    #expect(finding.state == state)
    #expect(finding.detail.contains(text), "\(finding.detail)")
    #expect((finding.advice == nil) == (state == .ok))
  }

  @Test func aMachinesFiles() throws {
    let root = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-doctor-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    func write(_ text: String, _ path: String) throws {
      let file = root.appendingPathComponent(path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    let files = MachineFiles(root: root.path, environment: ["XDG_RUNTIME_DIR": "/run/user/7"])
    #expect(files.cameras.state == .ok && files.cameras.detail.hasPrefix("none"))
    #expect(files.sound.detail.hasPrefix("no device"))
    #expect(files.authorities.state == .warn)
    #expect(files.time(0).state == .fail)
    #expect(files.time(Self.now).state == .ok)
    try write("", "dev/video0")
    try write("", "dev/video12")
    try write("", "dev/videotape")
    try write(" 0 [PCH            ]: HDA-Intel - HDA Intel PCH\n     irq 1\n", "proc/asound/cards")
    try write("", "run/user/7/pipewire-0")
    try write("-----BEGIN CERTIFICATE-----\n", "etc/ssl/certs/ca-certificates.crt")
    try write("", "run/systemd/timesync/clock")
    #expect(files.cameras.detail == "/dev/video0, /dev/video12")
    #expect(files.sound.detail == "ALSA: HDA-Intel - HDA Intel PCH, PipeWire")
    #expect(
      files.authorities
        == .ok("certificates", "1 authorities in /etc/ssl/certs/ca-certificates.crt"))
    #expect(files.time(Self.now).state == .warn)
    try write("", "run/systemd/timesync/synchronized")
    #expect(files.time(Self.now).detail.hasSuffix("kept by systemd-timesyncd"))
  }
}
