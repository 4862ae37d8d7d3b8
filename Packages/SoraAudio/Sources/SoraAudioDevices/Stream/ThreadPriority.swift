import CSoraSound

/// What was done to the calling thread, to be undone on it.
struct ThreadPriority {
  let scheduling: AudioThreadScheduling
  private let how: Int32
  private let niceness: Int32

  /// Has the calling thread run before others, as far as the machine permits.
  static func raise() -> ThreadPriority {
    var niceness: Int32 = 0
    let how = unsafe sora_sound_raise_thread(&niceness)
    let scheduling: AudioThreadScheduling =
      switch Int(how) {
      case SORA_SOUND_ROUND_ROBIN: .realTime
      case SORA_SOUND_NICE: .favored
      default: .normal
      }
    return ThreadPriority(scheduling: scheduling, how: how, niceness: niceness)
  }

  func restore() { sora_sound_lower_thread(how, niceness) }
}
