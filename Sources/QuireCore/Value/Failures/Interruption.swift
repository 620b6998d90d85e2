import Glibc

/// Work that is watched while it goes on, and may be ended.
protocol Interruptible: AnyObject {
  /// False when the work is to end.
  func mayGoOn() -> Bool
  /// The failure of the work in that case.
  var failure: Failure { get }
}

/// The monitor of the running thread's work, for slow code below that is handed none.
enum Interruption {
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// nil ends it. The caller keeps `watcher` until then.
  static func watch(by watcher: (any Interruptible)?) {
    guard let key else { return }
    pthread_setspecific(key, watcher.map { Unmanaged.passUnretained($0 as AnyObject).toOpaque() })
  }

  static var watcher: (any Interruptible)? {
    guard let key, let address = pthread_getspecific(key) else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue() as? any Interruptible
  }
}
