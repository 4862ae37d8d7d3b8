/// What is put right in arguments before they are read.
package enum ArgumentText {
  /// Joins an option and a negative number after it, as in `--duration=-3`: else the number would be taken for an option, and the
  /// message would be that a value is missing, in place of what is wrong with it.
  package static func joiningNegativeNumbers(_ arguments: [String]) -> [String] {
    var result: [String] = []
    for (index, argument) in arguments.enumerated() {
      if argument == "--" { return result + arguments[index...] }
      if let option = result.last, option.hasPrefix("--"), !option.contains("="),
        argument.first == "-", Double(argument) != nil
      {
        result[result.count - 1] = "\(option)=\(argument)"
      } else {
        result.append(argument)
      }
    }
    return result
  }
}
