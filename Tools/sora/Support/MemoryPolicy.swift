#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How this process keeps memory.
package enum MemoryPolicy {
  /// Has malloc give back at once what pictures and codecs have freed. Once, before there are threads.
  ///
  /// glibc maps large blocks by themselves, but takes each one that is freed for a sign that its size isn't large: after the first
  /// picture it keeps pictures, and the megabytes of a codec that was made anew, in the arena of whichever thread asked. Fixed limits
  /// keep that from happening; an app sets the same with `MALLOC_MMAP_THRESHOLD_` and `MALLOC_ARENA_MAX`, or with mallopt(3).
  package static func apply() {
    // malloc.h is no part of Swift's module of the C library, and other C libraries have no mallopt.
    guard let symbol = unsafe dlsym(nil, "mallopt") else { return }
    typealias Function = @convention(c) (Int32, Int32) -> Int32
    let set = unsafe unsafeBitCast(symbol, to: Function.self)
    let mmapThreshold: Int32 = -3
    let arenaMaximum: Int32 = -8
    _ = set(mmapThreshold, 1 << 20)
    _ = set(arenaMaximum, 2)
  }
}
