import CYUV
import SoraMedia

/// Rows of samples, or of pairs of them, to read from.
@safe struct Samples {
  let base: UnsafeRawPointer
  let stride: Int
  /// Samples a row, or pairs.
  let width: Int
  let height: Int

  init(base: UnsafeRawPointer, stride: Int, width: Int, height: Int) {
    unsafe self.base = unsafe base
    self.stride = stride
    self.width = width
    self.height = height
  }

  /// Samples of a plane from byte `column` of row `row` on.
  init(_ plane: Plane, from column: Int, _ row: Int, width: Int, height: Int) {
    unsafe self.init(
      base: plane.base + row * plane.stride + column, stride: plane.stride, width: width,
      height: height)
  }

  /// Samples of a plane that was filled.
  init(_ plane: MutablePlane, width: Int) {
    unsafe self.init(
      base: UnsafeRawPointer(plane.base), stride: plane.stride, width: width, height: plane.height)
  }

  var bytes: UnsafePointer<UInt8> { unsafe base.assumingMemoryBound(to: UInt8.self) }

  /// The same for samples of 10 bits, whose bytes strides and the target's width count.
  func scaleDeep(into target: MutablePlane) {
    unsafe ScalePlane_12(
      base.bindMemory(to: UInt16.self, capacity: stride / 2 * height), Int32(stride / 2),
      Int32(width), Int32(height), target.row(0, of: UInt16.self).baseAddress,
      Int32(target.stride / 2), Int32(target.width / 2), Int32(target.height), kFilterBox)
  }

  /// libyuv takes a box where a side shrinks to less than half and bilinear filtering otherwise.
  func scale(into target: MutablePlane) {
    unsafe ScalePlane(
      bytes, Int32(stride), Int32(width), Int32(height), target.bytes, Int32(target.stride),
      Int32(target.width), Int32(target.height), kFilterBox)
  }

  /// The same for pairs of samples, whose target's width counts single ones.
  func scaleInterleaved(into target: MutablePlane) {
    unsafe UVScale(
      bytes, Int32(stride), Int32(width), Int32(height), target.bytes, Int32(target.stride),
      Int32(target.width / 2), Int32(target.height), kFilterBox)
  }
}

extension MutablePlane {
  var bytes: UnsafeMutablePointer<UInt8> { unsafe base.assumingMemoryBound(to: UInt8.self) }
}
