/// Something about the arguments is wrong. One line that says what to change; the exit status is 2.
package struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }
}

/// The job could not be done. One line that names the stage and the way out; the exit status is 1.
package struct JobError: Error, Equatable, Sendable, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }
}

extension String {
  /// The text in one line: line breaks and the space around them become one space, and what else acts on a terminal is escaped.
  package var inOneLine: String {
    split(whereSeparator: \.isNewline)
      .map { $0.drop(while: \.isWhitespace) }
      .filter { !$0.isEmpty }
      .joined(separator: " ")
      .printable
  }
}
