import CRuntime

enum Environment {
  /// The value of a variable of the environment. nil where there is none, and in a program that has other rights than
  /// its caller, for which the caller is not to choose files.
  static func value(of name: String) -> String? { quire_environment(name).map { String(cString: $0) } }
}
