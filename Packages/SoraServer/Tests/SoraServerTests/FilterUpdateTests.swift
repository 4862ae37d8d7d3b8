import SoraMedia
import SoraServer
import SoraSignalingMessages
import Testing

/// What an update of a forwarding filter leaves as it is.
struct FilterUpdateTests {
  /// Of one priority the older is asked first. One that is updated takes the place of what it was, and mustn't go behind the others.
  @Test func anUpdateKeepsItsPlaceAmongThoseOfItsPriority() throws {
    func filter(_ name: String, _ action: String) throws -> ForwardingFilter {
      let text = #"{"name":"\#(name)","action":"\#(action)","rules":[[]]}"#
      return try ForwardingFilter.read(try JSONValue(parsing: text), path: "filter")
    }
    var filters = ForwardingFilters()
    let (first, second) = (try filter("first", "allow"), try filter("second", "block"))
    #expect(filters.create(first) == .done && filters.create(second) == .done)
    #expect(filters.forwards(.audio, connectionID: "a", clientID: "c"))
    // With what it is already.
    #expect(filters.update(first) == .done)
    #expect(filters.all == [first, second])
    #expect(filters.forwards(.audio, connectionID: "a", clientID: "c"))
  }
}
