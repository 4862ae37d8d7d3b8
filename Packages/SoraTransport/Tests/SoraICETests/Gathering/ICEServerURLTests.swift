import SoraICE
import Testing

@Suite struct ICEServerURLTests {
  @Test(arguments: [
    ("stun:stun.example.org", "stun:stun.example.org:3478"),
    ("STUN:192.0.2.1:5000", "stun:192.0.2.1:5000"),
    ("stuns:h", "stuns:h:5349"),
    ("turn:turn.example.org", "turn:turn.example.org:3478?transport=udp"),
    ("turn:192.0.2.1:80?transport=tcp", "turn:192.0.2.1:80?transport=tcp"),
    ("turn:[2001:DB8::1]:3479?transport=UDP", "turn:[2001:db8::1]:3479?transport=udp"),
    ("turns:[::1]", "turns:[::1]:5349?transport=tcp"),
    ("turns:h?transport=udp", "turns:h:5349?transport=udp"),
  ])
  func whatIsMeantIsRead(text: String, canonical: String) throws {
    let url = try ICEServerURL(parsing: text)
    #expect(url.description == canonical)
    #expect(ICEServerURL(canonical) == url)
  }

  @Test(arguments: [
    "", "turn", "turn:", "http:h", "turn://h", "turn:h:0", "turn:h:65536", "turn:h:x", "turn:[::1",
    "turn:[192.0.2.1]", "turn:[::1]x", "turn:::1", "turn:h?transport=sctp", "turn:h?x=1", "turn:h:",
    "stun:h?transport=udp", "turn:a b", "turn:h?transport=tcp&x=1", "turn:u@h",
  ])
  func whatBreaksTheGrammarIsRefused(text: String) {
    #expect(throws: ICEError.malformedServerURL(text)) { try ICEServerURL(parsing: text) }
  }

  @Test func theWayToTheServerFollows() {
    let stream = { (text: String) in ICEServerURL(text)?.isStream }
    let name = { (text: String) in ICEServerURL(text)?.relayProtocol }
    #expect(stream("turn:h") == false && name("turn:h") == "udp")
    #expect(stream("turn:h?transport=tcp") == true && name("turn:h?transport=tcp") == "tcp")
    #expect(stream("turns:h") == true && name("turns:h") == "tls")
  }
}
