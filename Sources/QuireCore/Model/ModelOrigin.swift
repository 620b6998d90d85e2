/// Where the declarations of a model come from, which decides how strictly their names are checked.
enum ModelOrigin: Sendable {
  /// Calls of a program. Names that would surprise are refused.
  case program
  /// A file that Core Data or Xcode wrote. Only what would break is refused.
  case file
}
