/// Keeps arrays that were used, so that those of the next messages cost no allocation. By powers of two of their capacity.
final class BufferPool {
  private var free: [[[UInt8]]] = Array(repeating: [], count: 32)
  private var bytes = 0
  private let limit: Int

  /// Keeps `limit` bytes at most.
  init(limit: Int) {
    self.limit = limit
  }

  /// An empty array with room for `count` bytes.
  func take(_ count: Int) -> [UInt8] {
    let size = max(64, count)
    let group = Int.bitWidth - (size - 1).leadingZeroBitCount
    if group < free.count, var array = free[group].popLast() {
      bytes -= 1 << group
      array.removeAll(keepingCapacity: true)
      return array
    }
    var array: [UInt8] = []
    array.reserveCapacity(group < free.count ? 1 << group : size)
    return array
  }

  /// Takes an array back. Whoever else refers to it may do so until it is handed out again; later that costs an allocation.
  func give(_ array: consuming [UInt8]) {
    let capacity = array.capacity
    guard capacity >= 64 else { return }
    let group = Int.bitWidth - 1 - capacity.leadingZeroBitCount
    guard group < free.count, bytes + 1 << group <= limit else { return }
    bytes += 1 << group
    free[group].append(array)
  }
}
