import SoraICE
import SoraMedia
import Testing

@Suite struct ICECandidateTests {
  /// Lines as peers send them.
  static let lines = [
    // RFC 8839 §5.1.
    "candidate:1 1 UDP 2130706431 203.0.113.141 8998 typ host",
    "candidate:2 1 UDP 1694498815 192.0.2.3 45664 typ srflx raddr 203.0.113.141 rport 8998",
    // Chromium.
    "candidate:842163049 1 udp 1677729535 192.0.2.61 57455 typ srflx raddr 0.0.0.0 rport 0 generation 0 ufrag 4ZcD network-id 1 network-cost 10",
    "candidate:3188042 1 udp 2113937151 6d9ab7fd-11aa-4b03-a4e5-1d0a8f3b8a3b.local 51234 typ host generation 0 ufrag 4ZcD network-cost 999",
    "candidate:1467250027 1 tcp 1518280447 192.168.1.10 9 typ host tcptype active generation 0",
    // Firefox.
    "candidate:0 2 UDP 2122252542 2001:DB8:0:0::00AB 60278 typ host",
    "candidate:a+/B 1 UDP 8331263 198.51.100.2 3478 typ relay raddr 198.51.100.9 rport 4444",
    // Types, transports and extensions from elsewhere.
    "candidate:1 256 SCTP-DTLS 0 sfu.example.com 0 typ magic raddr host.example rport 1 x-one 1 x-two ()",
    "candidate:1 1 udp 1 192.0.2.1 1 typ srflx raddr 192.0.2.2",
  ]

  @Test(arguments: lines)
  func printsAsItWasRead(line: String) throws {
    let candidate = try ICECandidate(parsing: line)
    #expect(candidate.sdp == line)
    #expect(try ICECandidate(parsing: "a=" + line + "\r\n") == candidate)
  }

  @Test func fields() throws {
    let chrome = try ICECandidate(parsing: Self.lines[2])
    #expect(chrome.foundation == "842163049")
    #expect(chrome.component == 1)
    #expect(chrome.transport == .udp)
    #expect(chrome.priority == 1_677_729_535)
    #expect(chrome.transportAddress == TransportAddress("192.0.2.61:57455"))
    #expect(chrome.type == .srflx)
    #expect(chrome.relatedAddress == .init(address: .ip(IPAddress("0.0.0.0")!), port: 0))
    #expect(chrome.ufrag == "4ZcD")
    let mdns = try ICECandidate(parsing: Self.lines[3])
    #expect(mdns.address == .name("6d9ab7fd-11aa-4b03-a4e5-1d0a8f3b8a3b.local"))
    #expect(mdns.transportAddress == nil)
    let resolved = mdns.resolved(to: IPAddress("10.0.0.9")!)
    #expect(resolved.sdp.contains(" 10.0.0.9 51234 typ host"))
    #expect(try ICECandidate(parsing: Self.lines[4]).tcpType == "active")
  }

  @Test func changedFieldsPrintCanonically() throws {
    var candidate = try ICECandidate(parsing: Self.lines[5])
    candidate.transport = .tcp
    candidate.address = .ip(IPAddress("2001:db8::ac")!)
    #expect(candidate.sdp == "candidate:0 2 tcp 2122252542 2001:db8::ac 60278 typ host")
  }

  @Test(arguments: [
    ("", "prefix"), ("candidate", "prefix"), ("candidate:", "foundation"),
    ("candidate:1", "component"),
    ("candidate:1 0 udp 1 1.2.3.4 1 typ host", "component"),
    ("candidate:1 257 udp 1 1.2.3.4 1 typ host", "component"),
    ("candidate:1 1 udp 4294967296 1.2.3.4 1 typ host", "priority"),
    ("candidate:1 1 udp -1 1.2.3.4 1 typ host", "priority"),
    ("candidate:1 1 udp 1 1.2.3 1 typ host", "address"),
    ("candidate:1 1 udp 1 fe80::1%eth0 1 typ host", "address"),
    ("candidate:1 1 udp 1 1.2.3.4 65536 typ host", "port"),
    ("candidate:1 1 udp 1 1.2.3.4 1 host", "typ"), ("candidate:1 1 udp 1 1.2.3.4 1 typ", "type"),
    ("candidate:1  1 udp 1 1.2.3.4 1 typ host", "component"),
    ("candidate:1 1 udp 1 1.2.3.4 1 typ host lonely", "lonely"),
    ("candidate:1_2 1 udp 1 1.2.3.4 1 typ host", "foundation"),
    ("candidate:123456789012345678901234567890123 1 udp 1 1.2.3.4 1 typ host", "foundation"),
    ("candidate:1 1 udp 1 1.2.3.4 1 typ srflx raddr x/y rport 1", "raddr"),
    ("candidate:1 1 udp 1 1.2.3.4 1 typ srflx raddr 1.2.3.4 rport x", "rport"),
  ])
  func theErrorNamesTheField(line: String, field: String) {
    let error = #expect(throws: ICEError.self) { try ICECandidate(parsing: line) }
    guard case .malformedCandidate(field, _)? = error else {
      Issue.record("\(String(describing: error)) should name \(field)")
      return
    }
  }

  @Test func parametersAreChecked() throws {
    let password = String(repeating: "p", count: 22)
    #expect(throws: Never.self) { try ICEParameters(ufrag: "abcd", password: password) }
    for (ufrag, password) in [("abc", password), ("ab d", password), ("abcd", "short"), ("", "")] {
      #expect(throws: ICEError.self) { try ICEParameters(ufrag: ufrag, password: password) }
    }
  }
}
