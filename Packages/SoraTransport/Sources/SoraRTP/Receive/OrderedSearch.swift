extension Array {
  /// How many elements come before the first for which this doesn't hold; those for which it does come first.
  func count(whilePrefix holds: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
