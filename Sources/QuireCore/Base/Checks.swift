/// Stops a build with QUIRE_CHECKS where an invariant is broken. For what takes longer to find out than the work that
/// relies on it; what is found out at once is an `assert`. Other builds do not calculate it.
@inline(__always)
func checkInvariant(_ holds: @autoclosure () -> Bool, _ message: @autoclosure () -> String) {
  #if QUIRE_CHECKS
    precondition(holds(), message())
  #endif
}
