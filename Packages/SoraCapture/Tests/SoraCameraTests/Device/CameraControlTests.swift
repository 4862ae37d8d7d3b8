import Foundation
import SoraCamera
import Synchronization
import Testing

/// Controls by V4L2's "User Controls" and "Extended Controls API", of each type and with each flag that means something here.
@Suite struct CameraControlTests {
  /// V4L2_CTRL_TYPE_...
  private enum Kind {
    static let (integer, boolean, menu, button): (UInt32, UInt32, UInt32, UInt32) = (1, 2, 3, 4)
    static let (integer64, heading, string): (UInt32, UInt32, UInt32) = (5, 6, 7)
    static let (bitMask, integerMenu, bytes): (UInt32, UInt32, UInt32) = (8, 9, 0x0100)
  }

  private func only(
    _ answer: ControlAnswer, code: Int32 = 0,
    items: @escaping @Sendable (UInt32) -> String? = { _ in nil }
  ) throws -> (MadeUpControls, CameraControl) {
    let driver = MadeUpControls([answer], code: code, items: items)
    let controls = try driver.controls()
    try #require(controls.count == 1)
    return (driver, controls[0])
  }

  @Test func flagsAreTold() throws {
    let flags: [(UInt32, KeyPath<CameraControl, Bool>?)] = [
      (0, nil), (0x0004, \.isReadOnly), (0x0010, \.isInactive), (0x0040, \.isWriteOnly),
      (0x0080, \.isVolatile), (0x0020, nil),
    ]
    for (flag, property) in flags {
      let (_, control) = try only(
        ControlAnswer(id: 1, type: Kind.integer, flags: flag, name: "Gain", most: 9))
      for other in [\.isReadOnly, \.isInactive, \.isWriteOnly, \.isVolatile]
        as [KeyPath<CameraControl, Bool>]
      {
        #expect(control[keyPath: other] == (other == property), "\(flag) \(other)")
      }
    }
  }

  /// Disabled ones, and what has no single value.
  @Test func whatIsNoControlIsLeftOut() throws {
    let driver = MadeUpControls([
      ControlAnswer(id: 1, type: Kind.heading, name: "Camera Controls"),
      ControlAnswer(id: 2, type: Kind.integer, flags: 0x0001, name: "Disabled"),
      ControlAnswer(id: 3, type: Kind.string, flags: 0x0100, name: "Text"),
      ControlAnswer(id: 4, type: Kind.bytes, flags: 0x0100, name: "Bytes"),
      ControlAnswer(id: 5, type: Kind.integer, flags: 0x0100, name: "An array"),
      ControlAnswer(id: 6, type: 999, name: "Of tomorrow"),
      ControlAnswer(id: 7, type: Kind.boolean, name: "Flip", most: 1),
    ])
    #expect(try driver.controls().map(\.name) == ["Flip"])
  }

  @Test func menusHaveItemsWithGaps() throws {
    let modes = ["Auto", nil, "Shutter", "Aperture"]
    let (driver, menu) = try only(
      ControlAnswer(id: 1, type: Kind.menu, name: "Exposure", most: 3, usual: 2),
      items: { $0 < 4 ? modes[Int($0)] : nil })
    #expect(
      menu.kind
        == .menu([
          .init(value: 0, name: "Auto"), .init(value: 2, name: "Shutter"),
          .init(value: 3, name: "Aperture"),
        ]))
    #expect(menu.allowed == "0 (Auto), 2 (Shutter), 3 (Aperture)")
    try driver.set(menu, to: 3)
    #expect(try driver.value(of: menu) == 3)
    for value in [1, 4, -1] as [Int64] {
      #expect(
        throws: CameraError.controlRefused(
          name: "Exposure", value: value, allowed: menu.allowed)
      ) { try driver.set(menu, to: value) }
    }
    let (_, numbers) = try only(
      ControlAnswer(id: 1, type: Kind.integerMenu, name: "Link", least: 1, most: 2),
      items: { ["", "384000000", "456000000"][Int($0)] })
    #expect(numbers.allowed == "1 (384000000), 2 (456000000)")
    guard case .integerMenu = numbers.kind else {
      Issue.record("\(numbers.kind)")
      return
    }
  }

  /// Menus from nowhere to everywhere.
  @Test(
    arguments: [
      (5000, 6000), (Int64.min, Int64.max), (9, 3), (0, Int64(UInt32.max)), (Int64.max, Int64.max),
      (-5, -1),
    ] as [(Int64, Int64)])
  func menusAreBounded(least: Int64, most: Int64) throws {
    let (driver, menu) = try only(
      ControlAnswer(id: 1, type: Kind.menu, name: "Menu", least: least, most: most),
      items: { "\($0)" })
    guard case .menu(let items) = menu.kind else { return }
    #expect(items.count <= 1025 && driver.questions.withLock { $0 } < 1100)
    if least == 5000 { #expect(items.first?.value == 5000 && items.count == 1001) }
  }

  /// A driver that never ends its list, and one that begins it again and again.
  @Test func listsAreBounded() throws {
    let endless = MadeUpControls(
      (1...5000).map { ControlAnswer(id: $0, type: Kind.boolean, name: "\($0)") })
    #expect(try endless.controls().count == 1024)
    final class Repeating: ControlQueries {
      let path = "/dev/video7"
      func control(after id: UInt32) throws(DriverFailure) -> ControlAnswer {
        ControlAnswer(id: 7, type: 1, name: "Again")
      }
      func menuItem(_ index: UInt32, of control: ControlAnswer) throws(DriverFailure) -> String {
        ""
      }
      func readControl(_ id: UInt32, is64: Bool) throws(DriverFailure) -> Int64 { 0 }
      func writeControl(_ id: UInt32, is64: Bool, _ value: Int64) throws(DriverFailure) {}
    }
    #expect(try Repeating().controls().count == 1)
  }

  /// A button is pressed by any value, and has none.
  @Test func buttonsAreOnlySet() throws {
    let (driver, button) = try only(
      ControlAnswer(id: 9, type: Kind.button, flags: 0x0240, name: "Reset"))
    #expect(button.isWriteOnly && button.allowed == "any value")
    try driver.set(button, to: 1)
    #expect(driver.values.withLock { $0[9] } == 1)
    #expect(throws: CameraError.controlUnreadable(name: "Reset")) {
      try driver.value(of: button)
    }
  }

  @Test func valuesOutsideAreRefusedAndNotBroughtInside() throws {
    let (driver, gain) = try only(
      ControlAnswer(id: 1, type: Kind.integer, name: "Gain", least: -8, most: 8, step: 2))
    #expect(gain.allowed == "-8 to 8 in steps of 2" && gain.step == 2)
    try driver.set(gain, to: -8)
    #expect(try driver.value(of: gain) == -8)
    for value in [-9, 9, 1 << 32, Int64.max, Int64.min] {
      #expect(throws: CameraError.self) { try driver.set(gain, to: value) }
    }
    #expect(try driver.value(of: gain) == -8)
    let (switches, flip) = try only(
      ControlAnswer(id: 1, type: Kind.boolean, name: "Flip", most: 1))
    #expect(throws: CameraError.self) { try switches.set(flip, to: 2) }
    let (large, rate) = try only(
      ControlAnswer(id: 1, type: Kind.integer64, name: "Rate", most: 1 << 40))
    try large.set(rate, to: 1 << 39)
    #expect(try large.value(of: rate) == 1 << 39)
    // A range that isn't one, and steps of nothing.
    let (_, odd) = try only(
      ControlAnswer(id: 1, type: Kind.integer, name: "Odd", least: 5, most: -5, step: .min))
    #expect(odd.range == 5...5 && odd.step == 1)
  }

  /// The highest bit is no sign.
  @Test func bitMasks() throws {
    let (driver, mask) = try only(
      ControlAnswer(id: 1, type: Kind.bitMask, name: "Mask", most: 0x8040_2010))
    try driver.set(mask, to: 0x8000_0010)
    #expect(try driver.value(of: mask) == 0x8000_0010)
    for value in [1, -1, 0x1_8000_0000] as [Int64] {
      #expect(throws: CameraError.self) { try driver.set(mask, to: value) }
    }
  }

  @Test func refusalsSayWhatIsAllowed() throws {
    let answer = ControlAnswer(id: 1, type: Kind.integer, name: "Gain", most: 8)
    for (code, part) in [(EBUSY, "while it runs"), (ERANGE, "0 to 8"), (EINVAL, "0 to 8")] {
      let (driver, control) = try only(answer, code: code)
      let error = #expect(throws: CameraError.self) { try driver.set(control, to: 3) }
      #expect("\(try #require(error))".contains(part), "\(code)")
    }
    var reading = answer
    reading.flags = 0x0004
    let (driver, control) = try only(reading, code: EACCES)
    #expect(
      throws: CameraError.controlRefused(name: "Gain", value: 3, allowed: "reading only")
    ) { try driver.set(control, to: 3) }
    let (gone, lost) = try only(answer, code: ENODEV)
    #expect(throws: CameraError.unplugged(path: "/dev/video7")) { try gone.set(lost, to: 3) }
    #expect(throws: CameraError.unplugged(path: "/dev/video7")) { try gone.value(of: lost) }
    let (closed, hidden) = try only(answer, code: EACCES)
    #expect(throws: CameraError.controlUnreadable(name: "Gain")) {
      try closed.value(of: hidden)
    }
  }
}
