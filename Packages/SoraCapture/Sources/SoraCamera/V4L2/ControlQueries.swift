#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a driver says of its controls, so that what is made of its answers can be tested with drivers that are made up.
package protocol ControlQueries {
  /// The device's file, for errors.
  var path: String { get }
  /// The control that follows `id`; EINVAL behind the last.
  func control(after id: UInt32) throws(DriverFailure) -> ControlAnswer
  /// The name of an item of a menu, or the number of one of an integer menu; EINVAL where there is none.
  func menuItem(_ index: UInt32, of control: ControlAnswer) throws(DriverFailure) -> String
  func readControl(_ id: UInt32, is64: Bool) throws(DriverFailure) -> Int64
  func writeControl(_ id: UInt32, is64: Bool, _ value: Int64) throws(DriverFailure)
}

/// What a driver says of a control (VIDIOC_QUERY_EXT_CTRL). Nothing of it needs to make sense.
package struct ControlAnswer: Hashable, Sendable {
  package var id: UInt32
  /// V4L2_CTRL_TYPE_...
  package var type: UInt32
  /// V4L2_CTRL_FLAG_...
  package var flags: UInt32
  package var name: String
  package var least: Int64
  package var most: Int64
  package var step: Int64
  package var usual: Int64

  package init(
    id: UInt32, type: UInt32, flags: UInt32 = 0, name: String, least: Int64 = 0, most: Int64 = 0,
    step: Int64 = 1, usual: Int64 = 0
  ) {
    self.id = id
    self.type = type
    self.flags = flags
    self.name = name
    self.least = least
    self.most = most
    self.step = step
    self.usual = usual
  }

  /// V4L2_CTRL_TYPE_INTEGER_MENU.
  var isIntegerMenu: Bool { type == 9 }
}

extension ControlQueries {
  package func controls() throws(CameraError) -> [CameraControl] {
    /// More than any driver has: ends lists that a broken one doesn't.
    let most = 1024
    var controls: [CameraControl] = []
    var id: UInt32 = 0
    for _ in 0..<most {
      let found: ControlAnswer
      do throws(DriverFailure) { found = try control(after: id) } catch {
        if error.isEnd { break }
        throw CameraError(error, "listing the controls", path)
      }
      guard found.id > id else { break }
      id = found.id
      if let control = CameraControl(found, items: { items(of: found) }) {
        controls.append(control)
      }
    }
    return controls
  }

  /// A menu's items, which may have gaps.
  private func items(of control: ControlAnswer) -> [CameraControl.Item] {
    let most: Int64 = 1024
    let first = max(0, control.least)
    guard first <= control.most, control.most <= UInt32.max else { return [] }
    return (first...min(control.most, first + most)).compactMap { index in
      (try? menuItem(UInt32(index), of: control)).map { .init(value: index, name: $0) }
    }
  }

  package func value(of control: CameraControl) throws(CameraError) -> Int64 {
    guard !control.isWriteOnly else { throw .controlUnreadable(name: control.name) }
    do throws(DriverFailure) {
      let value = try readControl(control.id, is64: control.kind == .integer64)
      // V4L2 has 32 bits with a sign for all but large integers.
      return control.kind == .bitMask ? Int64(UInt32(truncatingIfNeeded: value)) : value
    } catch {
      switch error.code {
      case EACCES, EINVAL: throw .controlUnreadable(name: control.name)
      default: throw CameraError(error, "reading \(control.name)", path)
      }
    }
  }

  package func set(_ control: CameraControl, to value: Int64) throws(CameraError) {
    // The kernel would bring many a value into the range without a word, and take the lower half of what has more than 32 bits.
    guard control.allows(value) else {
      throw .controlRefused(name: control.name, value: value, allowed: control.allowed)
    }
    do throws(DriverFailure) {
      try writeControl(control.id, is64: control.kind == .integer64, value)
    } catch {
      switch error.code {
      case ERANGE, EINVAL, EACCES, EBUSY:
        let allowed =
          control.isReadOnly
          ? "reading only"
          : error.code == EBUSY
            ? "nothing while it runs, or in this mode; otherwise \(control.allowed)"
            : control.allowed
        throw .controlRefused(name: control.name, value: value, allowed: allowed)
      default: throw CameraError(error, "setting \(control.name)", path)
      }
    }
  }
}

extension CameraControl {
  /// nil for what has no single value, such as strings, arrays and headings.
  init?(_ answer: ControlAnswer, items: () -> [Item]) {
    // V4L2_CTRL_TYPE_...
    switch answer.type {
    case 1: kind = .integer
    case 2: kind = .boolean
    case 3: kind = .menu(items())
    case 4: kind = .button
    case 5: kind = .integer64
    case 8: kind = .bitMask
    case _ where answer.isIntegerMenu: kind = .integerMenu(items())
    default: return nil
    }
    // V4L2_CTRL_FLAG_DISABLED, HAS_PAYLOAD.
    guard answer.flags & 0x0101 == 0 else { return nil }
    id = answer.id
    name = answer.name
    range = answer.least...max(answer.least, answer.most)
    step = max(1, answer.step)
    defaultValue = answer.usual
    isReadOnly = answer.flags & 0x0004 != 0
    isInactive = answer.flags & 0x0010 != 0
    isWriteOnly = answer.flags & 0x0040 != 0 || answer.type == 4
    isVolatile = answer.flags & 0x0080 != 0
  }

  /// Whether a value is one of those that `allowed` tells of, but for the steps.
  func allows(_ value: Int64) -> Bool {
    switch kind {
    case .integer: range.contains(value) && Int32(exactly: value) != nil
    case .integer64: range.contains(value)
    case .boolean: (0...1).contains(value)
    case .menu(let items), .integerMenu(let items): items.contains { $0.value == value }
    case .button: true
    // The most are all bits that there are.
    case .bitMask: (0...Int64(UInt32.max)).contains(value) && value & ~range.upperBound == 0
    }
  }
}
