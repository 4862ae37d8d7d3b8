extension Int16 {
  /// One channel's sample for two: as loud as they are where they are alike, and never beyond what a sample can hold.
  package init(meanOf left: Int16, _ right: Int16) {
    self.init(truncatingIfNeeded: (Int(left) + Int(right)) >> 1)
  }
}
