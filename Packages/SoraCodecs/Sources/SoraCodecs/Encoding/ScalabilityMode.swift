/// Layers within one stream, named as W3C webrtc-svc names them: `L1T3`, `L3T3_KEY`, `S2T1`.
public struct ScalabilityMode: Sendable, Hashable, LosslessStringConvertible {
  /// How the spatial layers depend on each other.
  public enum SpatialPrediction: Sendable, Hashable {
    /// Every picture of a layer may refer to the layer below (`L`).
    case full
    /// Only key pictures refer to the layer below (`L..._KEY`).
    case keyOnly
    /// Layers are independent (`S`).
    case none
  }

  /// 1...3.
  public let spatialLayers: Int
  /// 1...3.
  public let temporalLayers: Int
  public let prediction: SpatialPrediction

  /// Nil where a count is outside of 1...3.
  public init?(
    spatialLayers: Int, temporalLayers: Int, prediction: SpatialPrediction = .full
  ) {
    guard (1...3).contains(spatialLayers), (1...3).contains(temporalLayers) else { return nil }
    // With one layer there is nothing to predict from, and W3C knows no S1 nor L1_KEY.
    guard spatialLayers > 1 || prediction == .full else { return nil }
    self.spatialLayers = spatialLayers
    self.temporalLayers = temporalLayers
    self.prediction = prediction
  }

  /// Whether there is more than one layer of any kind.
  package var isLayered: Bool { spatialLayers > 1 || temporalLayers > 1 }

  private init(temporal: Int) {
    spatialLayers = 1
    temporalLayers = temporal
    prediction = .full
  }

  /// One layer.
  public static let l1t1 = ScalabilityMode(temporal: 1)
  /// Two temporal layers: half the frames can be dropped.
  public static let l1t2 = ScalabilityMode(temporal: 2)
  /// Three temporal layers: half or three quarters of the frames can be dropped.
  public static let l1t3 = ScalabilityMode(temporal: 3)

  /// Every mode of up to three layers each, those without spatial layers first.
  package static let all: [ScalabilityMode] =
    [.l1t1, .l1t2, .l1t3]
    + [SpatialPrediction.full, .keyOnly, .none].flatMap { prediction in
      (2...3).flatMap { spatial in
        (1...3).compactMap {
          ScalabilityMode(spatialLayers: spatial, temporalLayers: $0, prediction: prediction)
        }
      }
    }

  /// Reads a W3C name. Nil where it isn't one of those that this type can say.
  public init?(_ description: String) {
    let text = Array(description.utf8)
    guard text.count == 4 || text.count == 8, text[2] == UInt8(ascii: "T") else { return nil }
    let prediction: SpatialPrediction
    switch (text[0], text.count) {
    case (UInt8(ascii: "L"), 4): prediction = .full
    case (UInt8(ascii: "L"), 8):
      guard description.hasSuffix("_KEY") else { return nil }
      prediction = .keyOnly
    case (UInt8(ascii: "S"), 4): prediction = .none
    default: return nil
    }
    self.init(
      spatialLayers: Int(text[1]) - 48, temporalLayers: Int(text[3]) - 48, prediction: prediction)
  }

  public var description: String {
    let letter = prediction == .none ? "S" : "L"
    let suffix = prediction == .keyOnly ? "_KEY" : ""
    return "\(letter)\(spatialLayers)T\(temporalLayers)\(suffix)"
  }
}
