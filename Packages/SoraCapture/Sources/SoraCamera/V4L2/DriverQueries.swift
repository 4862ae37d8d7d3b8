#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a driver says of its formats, so that what is made of its answers can be tested with drivers that are made up.
package protocol DriverQueries {
  /// The device's file, for errors.
  var path: String { get }
  /// Format number `index`; EINVAL behind the last.
  func format(_ index: UInt32) throws(DriverFailure) -> CameraPixelFormat
  /// Sizes number `index` of a format; EINVAL behind the last, ENOTTY where the driver has no list.
  func sizes(of format: CameraPixelFormat, _ index: UInt32) throws(DriverFailure) -> FrameSizes
  /// Intervals number `index` of a size; likewise.
  func intervals(
    of format: CameraPixelFormat, width: Int, height: Int, _ index: UInt32
  ) throws(DriverFailure) -> FrameIntervals
  /// The size that is set now.
  func presentSize() throws(DriverFailure) -> (width: UInt32, height: UInt32)
}

/// An errno of a driver's.
package struct DriverFailure: Error, Hashable {
  package var code: Int32

  package init(_ code: Int32) { self.code = code }

  /// Whether a list ends here, or there is none.
  var isEnd: Bool { code == EINVAL || code == ENOTTY }
}

/// One answer of a driver's about sizes (VIDIOC_ENUM_FRAMESIZES).
package enum FrameSizes: Hashable, Sendable {
  case one(width: UInt32, height: UInt32)
  /// Stepwise or continuous.
  case range(width: FrameSteps, height: FrameSteps)
}

/// Pixels from a least to a most, in steps. Nothing of it needs to make sense.
package struct FrameSteps: Hashable, Sendable {
  package var least: UInt32
  package var most: UInt32
  package var step: UInt32

  package init(least: UInt32, most: UInt32, step: UInt32) {
    self.least = least
    self.most = most
    self.step = step
  }

  /// What is wanted, or else up to so many pixels less; nil where the steps miss that, too.
  func nearest(_ wanted: UInt32, within pixels: UInt32) -> Int? {
    guard wanted >= least, wanted <= most else { return nil }
    let rest = (wanted - least) % max(1, step)
    return rest <= pixels && wanted > rest ? Int(wanted - rest) : nil
  }

  /// The largest up to a bound; nil where there is none.
  func largest(upTo bound: UInt32) -> Int? {
    let end = min(most, bound)
    guard end >= least, end > 0 else { return nil }
    let value = end - (end - least) % max(1, step)
    return value > 0 ? Int(value) : nil
  }
}

/// One answer of a driver's about the seconds from frame to frame (VIDIOC_ENUM_FRAMEINTERVALS).
package struct FrameIntervals: Hashable, Sendable {
  package struct Fraction: Hashable, Sendable {
    package var numerator: UInt32
    package var denominator: UInt32

    package init(_ numerator: UInt32, _ denominator: UInt32) {
      self.numerator = numerator
      self.denominator = denominator
    }

    /// What a driver is asked for: thousandths of a frame, and the least of these for what is no rate.
    package init(framesPerSecond: Double) {
      let thousandths = framesPerSecond > 0 ? min(framesPerSecond * 1000, 4e9) : 1
      self.init(1000, max(1, UInt32(thousandths)))
    }

    /// Frames per second; nil where the driver can't say.
    var rate: Double? {
      numerator > 0 && denominator > 0 ? Double(denominator) / Double(numerator) : nil
    }
  }

  package var shortest: Fraction
  /// The same where there is one.
  package var longest: Fraction

  package init(shortest: Fraction, longest: Fraction) {
    self.shortest = shortest
    self.longest = longest
  }

  /// Frames per second; nil where the answer makes no sense.
  var rates: ClosedRange<Double>? {
    guard let highest = shortest.rate else { return nil }
    // v4l2loopback's longest interval is 1/0: a rate may be as low as one likes.
    let lowest = longest.numerator > 0 && longest.denominator == 0 ? 0 : longest.rate
    return lowest.flatMap { $0 <= highest ? $0...highest : nil }
  }
}

// MARK: Lists

/// More of a kind than any driver lists: ends lists that a broken one doesn't.
private enum Most {
  static let answers: UInt32 = 256
  static let formats = 4096
  /// Pixels of a side.
  static let side: UInt32 = 8192
}

extension DriverQueries {
  /// Formats with their sizes and rates, in the driver's order. Of a range of sizes those that people know, and the largest.
  package func formats() throws(CameraError) -> [CameraFormat] {
    var formats: [CameraFormat] = []
    for pixelFormat in try list("formats", { index throws(DriverFailure) in try format(index) }) {
      for (width, height) in try sizes(of: pixelFormat) where formats.count < Most.formats {
        let intervals = try list("frame rates") { index throws(DriverFailure) in
          try self.intervals(of: pixelFormat, width: width, height: height, index)
        }
        formats.append(
          CameraFormat(
            pixelFormat: pixelFormat, width: width, height: height,
            frameRateRanges: intervals.compactMap(\.rates)))
      }
    }
    return formats
  }

  private func sizes(of format: CameraPixelFormat) throws(CameraError) -> [(Int, Int)] {
    let answers = try list("sizes") { index throws(DriverFailure) in
      try sizes(of: format, index)
    }
    var found: [(Int, Int)] = []
    answers: for answer in answers {
      switch answer {
      case .one(let width, let height):
        if width > 0, height > 0 { found.append((Int(width), Int(height))) }
      case .range(let width, let height):
        for size in FrameSizes.usual(width, height) where !found.contains(where: { $0 == size }) {
          found.append(size)
        }
        // There is one range, or none.
        break answers
      }
    }
    if !found.isEmpty { return found }
    do throws(DriverFailure) {
      let present = try presentSize()
      return present.width > 0 && present.height > 0
        ? [(Int(present.width), Int(present.height))] : []
    } catch {
      if error.isEnd { return [] }
      throw CameraError(error, "reading the format", path)
    }
  }

  /// All answers up to the end of a list; what is told twice, as some cameras do, counts once.
  private func list<Answer: Equatable>(
    _ what: String, _ ask: (UInt32) throws(DriverFailure) -> Answer
  ) throws(CameraError) -> [Answer] {
    var answers: [Answer] = []
    for index in 0..<Most.answers {
      do throws(DriverFailure) {
        let answer = try ask(index)
        if !answers.contains(answer) { answers.append(answer) }
      } catch {
        if error.isEnd { break }
        throw CameraError(error, "listing the \(what)", path)
      }
    }
    return answers
  }
}

extension FrameSizes {
  /// Sizes that a driver with a range of them is asked for, those that people know.
  private static let known: [(width: UInt32, height: UInt32)] = [
    (160, 120), (320, 180), (320, 240), (352, 288), (640, 360), (640, 480), (800, 600), (960, 540),
    (1024, 768), (1280, 720), (1280, 960), (1600, 1200), (1920, 1080), (2560, 1440), (3840, 2160),
    (4032, 3024),
  ]
  /// What a size may lack to be taken for one that people know: 1080 rows are 1072 where a driver counts by 16.
  private static let tolerance: UInt32 = 15

  /// The known sizes that lie in a range, and its largest.
  static func usual(_ width: FrameSteps, _ height: FrameSteps) -> [(Int, Int)] {
    var sizes: [(Int, Int)] = []
    for size in known {
      if let width = width.nearest(size.width, within: tolerance),
        let height = height.nearest(size.height, within: tolerance)
      {
        sizes.append((width, height))
      }
    }
    // A range without an end tells nothing of the camera.
    let isBounded = width.most <= Most.side && height.most <= Most.side
    if isBounded || sizes.isEmpty, let width = width.largest(upTo: Most.side),
      let height = height.largest(upTo: Most.side)
    {
      sizes.append((width, height))
    }
    return sizes
  }
}
