public import SoraMedia

extension FormatParameters {
  /// What is offered of a video codec where nothing else is asked for.
  public init(_ format: VideoCodecFormat) {
    self.init(entries: format.parameters.map { Entry(key: $0.name, value: $0.value) })
  }

  /// Whether these and others mean the same format of a codec, by the parameters that distinguish its formats.
  public func isSameFormat(as other: FormatParameters, of codec: VideoCodecFormat) -> Bool {
    codec.distinguishing.allSatisfy { parameter in
      let (mine, theirs) = (self[parameter.name], other[parameter.name])
      if (mine ?? parameter.value) == (theirs ?? parameter.value) { return true }
      let numbers = [integer(parameter.name), other.integer(parameter.name)]
      return numbers.allSatisfy { $0 != nil } && numbers[0] == numbers[1]
    }
  }
}
