import SoraWire

/// Which frames a picture is made of, and which it needs, as its dependency descriptors tell. Plain memory.
struct FrameDependencies: Equatable {
  /// The numbers of its first and its last layer frame.
  private(set) var first: UInt16
  private(set) var last: UInt16
  /// Frames of other pictures that it needs.
  private var needed = SIMD8<UInt16>()
  private var count = 0
  /// More is needed than fits: nothing can be said.
  private var isOverfull = false
  /// Only numbers are known, of no layer frame what it needs.
  private(set) var isPartial = false

  /// Of a layer frame whose structure hasn't come yet.
  init(number: UInt16) {
    first = number
    last = number
    isPartial = true
  }

  /// Of one layer frame.
  init(number: UInt16, differences: [Int]) {
    first = number
    last = number
    for difference in differences { need(number &- UInt16(truncatingIfNeeded: difference)) }
  }

  private mutating func need(_ number: UInt16) {
    for index in 0..<count where needed[index] == number { return }
    guard count < 8 else {
      isOverfull = true
      return
    }
    needed[count] = number
    count += 1
  }

  /// Takes in another layer frame of the same picture.
  mutating func merge(_ other: FrameDependencies) {
    if Int16(bitPattern: other.first &- first) < 0 { first = other.first }
    if Int16(bitPattern: other.last &- last) > 0 { last = other.last }
    isOverfull = isOverfull || other.isOverfull
    isPartial = isPartial && other.isPartial
    for index in 0..<other.count { need(other.needed[index]) }
  }

  /// Whether all that it needs of other pictures is among `known`.
  func areMet(by known: FrameNumberSet) -> Bool {
    guard !isOverfull else { return false }
    for index in 0..<count {
      let number = needed[index]
      let isOwn = number &- first <= last &- first
      guard isOwn || known.contains(number) else { return false }
    }
    return true
  }
}

/// Frame numbers of the recent past, 256 of them.
struct FrameNumberSet: Equatable {
  private var newest: UInt16?
  private var bits = SIMD4<UInt64>()

  func contains(_ number: UInt16) -> Bool {
    guard let newest, newest &- number < 256 else { return false }
    return bits[Int(number >> 6 & 3)] & 1 << UInt64(number & 63) != 0
  }

  mutating func insert(_ number: UInt16) {
    if let newest {
      let step = number &- newest
      guard step < 0x8000 else {
        if newest &- number < 256 { set(number, true) }
        return
      }
      if step >= 256 {
        bits = SIMD4()
      } else {
        for offset in 0..<step { set(newest &+ 1 &+ offset, false) }
      }
    }
    newest = number
    set(number, true)
  }

  private mutating func set(_ number: UInt16, _ value: Bool) {
    let mask: UInt64 = 1 << UInt64(number & 63)
    if value { bits[Int(number >> 6 & 3)] |= mask } else { bits[Int(number >> 6 & 3)] &= ~mask }
  }
}
