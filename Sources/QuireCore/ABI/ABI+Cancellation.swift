import CQuire

@_cdecl("quire_cancellation_create") @implementation
public func quire_cancellation_create() -> UnsafeMutablePointer<quire_cancellation>? { .passing(Cancellation()) }

@_cdecl("quire_cancellation_retain") @implementation
public func quire_cancellation_retain(
  _ cancellation: UnsafePointer<quire_cancellation>?
) -> UnsafeMutablePointer<quire_cancellation>? { retain(cancellation) }

@_cdecl("quire_cancellation_release") @implementation
public func quire_cancellation_release(_ cancellation: UnsafeMutablePointer<quire_cancellation>?) {
  release(cancellation)
}

@_cdecl("quire_cancellation_cancel") @implementation
public func quire_cancellation_cancel(_ cancellation: UnsafeMutablePointer<quire_cancellation>?) {
  peek(cancellation)?.cancel()
}

@_cdecl("quire_cancellation_is_cancelled") @implementation
public func quire_cancellation_is_cancelled(_ cancellation: UnsafePointer<quire_cancellation>?) -> Bool {
  peek(cancellation)?.isCancelled ?? false
}

@_cdecl("quire_fetch_request_set_cancellation") @implementation
public func quire_fetch_request_set_cancellation(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ cancellation: UnsafePointer<quire_cancellation>?,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    request.cancellation = cancellation == nil ? nil : try resolve(cancellation, "cancellation")
  }
}

@_cdecl("quire_fetch_request_set_progress") @implementation
public func quire_fetch_request_set_progress(
  _ request: UnsafeMutablePointer<quire_fetch_request>?, _ progress: UnsafePointer<quire_progress>?,
  _ out_error: ErrorOut
) -> quire_status {
  unconfined(request, "request", out_error) { request throws(Failure) in
    let next = try monitorProgress(progress)
    try ending(request.progress) { request.progress = next }
  }
}

/// The progress function, from the caller's struct; nil for NULL.
func monitorProgress(_ progress: UnsafePointer<quire_progress>?) throws(Failure) -> FetchMonitor.Progress? {
  guard progress != nil else { return nil }
  let chosen = try options(progress, defaults: quire_progress(), "progress")
  guard let report = chosen.report else {
    throw Failure(.invalidArgument, "'progress' has no function 'report' to tell; pass NULL to have nobody told.")
  }
  let interval = chosen.interval_milliseconds == 0 ? 10 : UInt64(chosen.interval_milliseconds)
  let callback = ProgressCallback(chosen)
  return FetchMonitor.Progress(nanoseconds: interval * 1_000_000) { rows in report(callback.userData, rows) }
}

/// Holds the caller's `user_data` and calls `destroy` when it goes.
private final class ProgressCallback {
  private let progress: quire_progress

  init(_ progress: quire_progress) { self.progress = progress }

  deinit { progress.destroy?(progress.user_data) }

  var userData: UnsafeMutableRawPointer? { progress.user_data }
}
