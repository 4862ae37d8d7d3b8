/// What a client asks for of each sender: by name, or as of all. Plain memory.
struct SenderWishes<Wish> {
  /// Of all of whom nothing is asked for by name.
  private var standard: Wish
  private var bySender: [String: Wish] = [:]

  init(_ standard: Wish) { self.standard = standard }

  subscript(sender: String) -> Wish { bySender[sender] ?? standard }

  /// Asks for something of one sender, or of all where none is named.
  mutating func set(_ wish: Wish, of sender: String?) {
    if let sender {
      bySender[sender] = wish
    } else {
      standard = wish
      bySender = [:]
    }
  }

  /// Asks of a sender for what is asked of all, as when it is gone.
  mutating func forget(_ sender: String) { bySender[sender] = nil }
}
