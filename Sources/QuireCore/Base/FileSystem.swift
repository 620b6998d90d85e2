import CRuntime

/// System calls for files that the headers keep from Swift.
enum FileSystem {
  /// Renames a file where no file is, in one step. False leaves the reason in `errno`: EINVAL or ENOSYS where the file
  /// system cannot do that.
  static func rename(_ name: String, toFree newName: String) -> Bool { quire_rename_to_free(name, newName) == 0 }
}
