import Foundation
import TestPrograms
import Testing

/// What a machine needs for a test with foreign peers. A test without it is skipped and says what is missing; `make
/// deps` installs all of it.
enum Requirement {
  /// A namespace of the test's own, and Python with its virtual environments.
  static let missingForScenarios: String? = {
    for tool in ["python3", "ip", "unshare", "flock", "timeout", "openssl", "setpriv"]
    where !TestPrograms.isInstalled(tool) {
      return "\(tool) is missing: run `make deps`"
    }
    guard succeeds("python3", "-c", "import venv, ensurepip") else {
      return "python3-venv is missing: run `make deps`"
    }
    guard succeeds("unshare", getuid() == 0 ? "-n" : "-Urn", "true") else {
      return "network namespaces are not allowed here"
    }
    return nil
  }()

  /// Namespaces with routers between them that translate addresses.
  static let missingForNATs: String? =
    missingForScenarios
    ?? ["nft", "conntrack", "nsenter"].first { !TestPrograms.isInstalled($0) }.map {
      "\($0) is missing: run `make deps`"
    }
    ?? missingForCoturn
    ?? (succeeds("unshare", getuid() == 0 ? "-n" : "-Urn", "sh", "-ec", natProbe)
      ? nil : "netfilter does not translate addresses here")

  private static let natProbe = """
    nft 'table ip t { chain c { type nat hook postrouting priority 100; masquerade fully-random; }; }'
    conntrack -F
    """

  /// A bad link between two namespaces.
  static let missingForLinks: String? =
    missingForScenarios
    ?? (TestPrograms.isInstalled("nsenter") ? nil : "nsenter is missing: run `make deps`")
    ?? (access("/dev/net/tun", R_OK | W_OK) == 0 ? nil : "/dev/net/tun can't be opened here")

  static let missingForBrowser = missingForScenarios ?? missing("chromium")

  static let missingForFirefox = missingForScenarios ?? missing("firefox-esr")

  static let missingForCurl = missingForScenarios ?? missing("curl")

  static let missingForCoturn = missingForScenarios ?? missing("turnserver")

  /// webrtcbin with what it needs, and its bindings for Debian's own Python.
  static let missingForGStreamer: String? =
    missingForScenarios
    ?? (succeeds("/usr/bin/python3", "-B", "-c", gstreamerProbe)
      ? nil : "GStreamer, its plugins or its Python bindings are missing: run `make deps`")

  private static let gstreamerProbe = """
    import gi, numpy
    gi.require_version("GstWebRTC", "1.0")
    from gi.repository import Gst, GstWebRTC
    Gst.init(None)
    elements = ["webrtcbin", "nicesink", "vp8enc", "openh264enc", "rtpvp8pay", "opusenc"]
    assert all(map(Gst.ElementFactory.find, elements))
    """

  /// GStreamer's repair packets, without anything else of its.
  static let missingForFEC: String? =
    succeeds("/usr/bin/python3", "-B", "-c", repairProbe)
    ? nil : "GStreamer, its plugins or its Python bindings are missing: run `make deps`"

  private static let repairProbe = """
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)
    elements = ["rtpulpfecenc", "rtpulpfecdec", "rtpredenc", "rtpreddec", "rtpstorage"]
    assert all(map(Gst.ElementFactory.find, elements))
    """

  private static func missing(_ program: String) -> String? {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\(program)")
      ? nil : "\(program) is missing: run `make deps`"
  }

  private static func succeeds(_ command: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}

extension Trait where Self == ConditionTrait {
  static var needsPeers: Self {
    .disabled(
      if: Requirement.missingForScenarios != nil, "\(Requirement.missingForScenarios ?? "")")
  }
  static var needsNATs: Self {
    .disabled(if: Requirement.missingForNATs != nil, "\(Requirement.missingForNATs ?? "")")
  }
  static var needsLinks: Self {
    .disabled(if: Requirement.missingForLinks != nil, "\(Requirement.missingForLinks ?? "")")
  }
  static var needsBrowser: Self {
    .disabled(if: Requirement.missingForBrowser != nil, "\(Requirement.missingForBrowser ?? "")")
  }
  static var needsFirefox: Self {
    .disabled(if: Requirement.missingForFirefox != nil, "\(Requirement.missingForFirefox ?? "")")
  }
  static var needsCurl: Self {
    .disabled(if: Requirement.missingForCurl != nil, "\(Requirement.missingForCurl ?? "")")
  }
  static var needsCoturn: Self {
    .disabled(if: Requirement.missingForCoturn != nil, "\(Requirement.missingForCoturn ?? "")")
  }
  static var needsGStreamer: Self {
    .disabled(
      if: Requirement.missingForGStreamer != nil, "\(Requirement.missingForGStreamer ?? "")")
  }
  static var needsFECElements: Self {
    .disabled(if: Requirement.missingForFEC != nil, "\(Requirement.missingForFEC ?? "")")
  }
}
