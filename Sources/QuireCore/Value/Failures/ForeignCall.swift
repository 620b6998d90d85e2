import Glibc

/// Marks the threads that are inside a function that the program registered. While it runs, a fetch may be half done
/// and the store's lock is held. Contexts and stores therefore refuse calls of such threads.
enum ForeignCall {
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  static var isRunning: Bool { key.map { pthread_getspecific($0) != nil } ?? false }

  static func run<Result, Problem>(_ body: () throws(Problem) -> Result) throws(Problem) -> Result {
    guard let key else { return try body() }
    let before = pthread_getspecific(key)
    pthread_setspecific(key, UnsafeMutableRawPointer(bitPattern: 1))
    defer { pthread_setspecific(key, before) }
    return try body()
  }

  static func refuse() throws(Failure) {
    if isRunning {
      throw Failure(
        .invalidState,
        "A registered function or a log may not use contexts or stores while the library calls it. What a function "
          + "needs comes as its arguments.")
    }
  }
}
