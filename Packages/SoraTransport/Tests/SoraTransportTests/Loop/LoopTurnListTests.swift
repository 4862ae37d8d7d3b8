import SoraTransport
import Testing

@Suite struct LoopTurnListTests {
  private final class Element {
    let number: Int
    private let alive: Alive

    init(_ number: Int, _ alive: Alive) {
      self.number = number
      self.alive = alive
      alive.count += 1
    }

    deinit { alive.count -= 1 }
  }

  private final class Alive { var count = 0 }

  private let alive = Alive()

  private func drained(_ list: TurnList<Element>) -> [Int] {
    var numbers: [Int] = []
    list.drain { numbers.append($0.number) }
    return numbers
  }

  /// Each once, in the order in which they came, below and beyond the room that it begins with.
  @Test(arguments: [0, 1, 16, 17, 1000])
  func elementsComeOutInOrder(count: Int) {
    let list = TurnList<Element>()
    for _ in 0..<3 {
      for number in 0..<count { list.append(Element(number, alive)) }
      #expect(alive.count == count)
      #expect(drained(list) == Array(0..<count))
      #expect(alive.count == 0 && drained(list).isEmpty)
    }
  }

  /// What is appended while it is drained comes out in the same turn, also where there was no room left behind those taken out.
  @Test(arguments: [1, 15, 16, 40])
  func whatIsAppendedMeanwhileComesToo(count: Int) {
    let list = TurnList<Element>()
    for number in 0..<count { list.append(Element(number, alive)) }
    var numbers: [Int] = []
    list.drain { element in
      numbers.append(element.number)
      guard element.number < 1000 else { return }
      // Two for one: it grows again and again with some of them taken out.
      for offset in 1...2 { list.append(Element(1000 * numbers.count + offset, alive)) }
    }
    let appended = (1...count).flatMap { [1000 * $0 + 1, 1000 * $0 + 2] }
    #expect(numbers == Array(0..<count) + appended)
    #expect(alive.count == 0)
  }

  /// Draining holds on to nothing that it has handed out, and the end of the list to nothing at all.
  @Test func elementsAreReleased() {
    var list: TurnList<Element>? = TurnList()
    for number in 0..<20 { list?.append(Element(number, alive)) }
    var left: [Int] = []
    list?.drain { element in withExtendedLifetime(element) { left.append(alive.count) } }
    #expect(left == Array((1...20).reversed()))
    for number in 0..<20 { list?.append(Element(number, alive)) }
    #expect(alive.count == 20)
    list = nil
    #expect(alive.count == 0)
  }
}
