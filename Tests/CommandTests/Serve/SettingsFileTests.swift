import SoraCommandSupport
import Testing

/// The lines of a file of settings.
@Suite struct SettingsFileTests {
  private func value(_ text: String) throws -> SettingsFile.Value {
    let file = SettingsFile(parsing: "key = \(text)")
    #expect(file.problems.isEmpty, "\(file.problems)")
    return try #require(file.entries.first).value
  }

  @Test func eachKindOfValueIsRead() throws {
    #expect(try value("\"a # b\" # comment") == .text("a # b"))
    #expect(try value(#"'C:\n "x"'"#) == .text(#"C:\n "x""#))
    #expect(try value(#""\"\\\n\t""#) == .text("\"\\\n\t"))
    #expect(try value("true") == .flag(true))
    #expect(try value("false# off") == .flag(false))
    #expect(try value("10_000") == .text("10000"))
    #expect(try value("-2.5") == .text("-2.5"))
    #expect(try value("[]") == .list([]))
    #expect(try value("[ \"a\" , 'b', ]") == .list(["a", "b"]))
  }

  @Test func linesEndInEveryWayAndAreCounted() {
    let file = SettingsFile(parsing: "\u{20}# first\r\n\r\n a=1\r\nb = \"é\"\n\tc-d_9 =true")
    #expect(file.problems.isEmpty)
    #expect(
      file.entries == [
        .init(line: 3, key: "a", value: .text("1")), .init(line: 4, key: "b", value: .text("é")),
        .init(line: 5, key: "c-d_9", value: .flag(true)),
      ])
  }

  @Test(arguments: [
    "key", "= 1", "key =", "key = # nothing", "key = word", "key = \"a", "key = \"\\x\"",
    "key = 'a",
    "key = [1]", "key = [\"a\" \"b\"]", "key = [\"a\",", "key = 1 2", "[table]", "key: 1", "é = 1",
    "key = nan", "key = inf", "key = \"a\\",
  ])
  func whatIsWrongIsToldWithItsLine(line: String) {
    let file = SettingsFile(parsing: "good = 1\n\(line)\nlast = 2")
    #expect(file.problems.map(\.line) == [2], "\(file.problems)")
    #expect(file.entries.map(\.key) == ["good", "last"])
  }

  @Test func nothingTraps() {
    var state: UInt64 = 1
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    let parts: [Character] = Array("ab=\"'\\[],#\n\r\t 1_-.true\u{0}é\u{1F600}")
    for _ in 0..<20_000 {
      let text = String((0..<next(24)).map { _ in parts[next(parts.count)] })
      let file = SettingsFile(parsing: text)
      #expect(
        file.entries.count + file.problems.count <= text.split(whereSeparator: \.isNewline).count)
    }
  }
}
