/// A profile of H.264, or a subset of one that the constraint flags name (H.264 §A.2, RFC 6184 §8.1 table 5).
public enum H264Profile: Sendable, Hashable, CaseIterable {
  case constrainedBaseline
  case baseline
  case main
  case extended
  case high
  case constrainedHigh
  case high10
  case high10Intra
  case high422
  case high422Intra
  case high444Predictive
  case high444Intra
  case cavlc444Intra

  /// The profile that `profile_idc` and the constraint flags (`constraint_set0_flag` is the most significant bit of
  /// the byte) mean; nil where they mean none.
  public init?(profileIDC: UInt8, constraints: UInt8) {
    // The lowest two bits are reserved. The two above them say what a stream does without (H.264 §7.4.2.1.1); they matter
    // only where they make High the Constrained High profile (§A.2.4.2).
    guard constraints & 0x03 == 0 else { return nil }
    let isConstrainedHigh = profileIDC == 0x64 && constraints & 0x0C == 0x0C
    let constraints = isConstrainedHigh ? constraints : constraints & 0xF0
    switch (profileIDC, constraints) {
    case (0x42, let flags): self = flags & 0x40 != 0 ? .constrainedBaseline : .baseline
    case (0x4D, let flags) where flags & 0x80 != 0: self = .constrainedBaseline
    case (0x4D, let flags) where flags & 0x20 == 0: self = .main
    case (0x58, let flags) where flags & 0x80 != 0:
      self = flags & 0x40 != 0 ? .constrainedBaseline : .baseline
    case (0x58, let flags) where flags & 0x40 == 0: self = .extended
    case (0x64, 0): self = .high
    case (0x64, 0x0C): self = .constrainedHigh
    case (0x6E, 0): self = .high10
    case (0x6E, 0x10): self = .high10Intra
    case (0x7A, 0): self = .high422
    case (0x7A, 0x10): self = .high422Intra
    case (0xF4, 0): self = .high444Predictive
    case (0xF4, 0x10): self = .high444Intra
    case (0x2C, 0x10): self = .cavlc444Intra
    default: return nil
    }
  }

  /// The `profile_idc` that says it best.
  public var profileIDC: UInt8 {
    switch self {
    case .constrainedBaseline, .baseline: 0x42
    case .main: 0x4D
    case .extended: 0x58
    case .high, .constrainedHigh: 0x64
    case .high10, .high10Intra: 0x6E
    case .high422, .high422Intra: 0x7A
    case .high444Predictive, .high444Intra: 0xF4
    case .cavlc444Intra: 0x2C
    }
  }

  /// The constraint flags that go with `profileIDC`, level 1b aside.
  public var constraints: UInt8 {
    switch self {
    // Such a stream is one of Main and Extended too; everybody writes so.
    case .constrainedBaseline: 0xE0
    case .constrainedHigh: 0x0C
    case .high10Intra, .high422Intra, .high444Intra, .cavlc444Intra: 0x10
    case .baseline, .main, .extended, .high, .high10, .high422, .high444Predictive: 0
    }
  }

  /// Whether level 1b is said by `constraint_set3_flag` instead of a `level_idc` of its own (H.264 §A.3.1).
  var saysLevel1bByConstraint: Bool {
    switch self {
    case .constrainedBaseline, .baseline, .main, .extended: true
    default: false
    }
  }

  /// cpbBrVclFactor of table A-2: bits a second for each unit of MaxBR.
  var bitRateFactor: Int {
    switch self {
    case .constrainedBaseline, .baseline, .main, .extended: 1_000
    case .high, .constrainedHigh: 1_250
    case .high10, .high10Intra: 3_000
    default: 4_000
    }
  }
}
