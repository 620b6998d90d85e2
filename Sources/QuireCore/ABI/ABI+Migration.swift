import CQuire

@_cdecl("quire_migration_create") @implementation
public func quire_migration_create(
  _ path: CText, _ path_size: Int, _ source: UnsafeMutablePointer<quire_model>?,
  _ target: UnsafeMutablePointer<quire_model>?, _ options: UnsafePointer<quire_store_options>?,
  _ out_migration: Out<quire_migration>, _ out_error: ErrorOut
) -> quire_status {
  out_migration?.pointee = nil
  return status(out_error) { () throws(Failure) in
    try ForeignCall.refuse()
    let out = try required(out_migration, "out_migration")
    try withStoreOptions(options) { options throws(Failure) in
      let path = try text(path, path_size, "path")
      let source = try source == nil ? nil : resolve(source, "source")
      let target = try target == nil ? nil : resolve(target, "target")
      out.pointee = .passing(try Migration(path: path, source: source, target: target, options: options))
    }
  }
}

@_cdecl("quire_migration_retain") @implementation
public func quire_migration_retain(
  _ migration: UnsafePointer<quire_migration>?
) -> UnsafeMutablePointer<quire_migration>? { retain(migration) }

@_cdecl("quire_migration_release") @implementation
public func quire_migration_release(_ migration: UnsafeMutablePointer<quire_migration>?) { release(migration) }

@_cdecl("quire_migration_add_stage") @implementation
public func quire_migration_add_stage(
  _ migration: UnsafeMutablePointer<quire_migration>?, _ model: UnsafeMutablePointer<quire_model>?,
  _ callbacks: UnsafePointer<quire_migration_callbacks>?, _ out_error: ErrorOut
) -> quire_status {
  status(out_error) { () throws(Failure) in
    try ForeignCall.refuse()
    let migration = try resolve(migration, "migration")
    let model = try resolve(model, "model")
    if callbacks == nil { return try migration.addStage(to: model) }
    let given = try options(callbacks, defaults: quire_migration_callbacks(), "callbacks")
    try checkReserved(given.reserved, "callbacks")
    let made = ProgramStage(given)
    do throws(Failure) { try migration.addStage(to: model, callbacks: made) } catch {
      // Still the caller's.
      made.keepsUserData = false
      throw error
    }
  }
}

/// The callbacks of a stage in C. It holds the caller's `user_data` and calls `destroy` when it goes.
private final class ProgramStage: StageCallbacks, @unchecked Sendable {
  typealias Callback =
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafeMutablePointer<quire_context>?, UnsafeMutablePointer<quire_value>?
    ) -> Bool

  private let callbacks: quire_migration_callbacks
  /// False until the stage is there. For the thread that adds it.
  var keepsUserData = true

  init(_ callbacks: quire_migration_callbacks) { self.callbacks = callbacks }

  deinit { if keepsUserData { callbacks.destroy?(callbacks.user_data) } }

  var hasWillMigrate: Bool { callbacks.will_migrate != nil }
  var hasDidMigrate: Bool { callbacks.did_migrate != nil }

  func willMigrate(_ store: any Engine) throws(Failure) {
    try call("will_migrate", callbacks.will_migrate, store)
  }

  func didMigrate(_ store: any Engine) throws(Failure) {
    try call("did_migrate", callbacks.did_migrate, store)
  }

  private func call(_ name: String, _ callback: Callback?, _ store: any Engine) throws(Failure) {
    try Context.duringMigration(of: store) { context throws(Failure) in
      var reason = quire_value()
      if callback?(callbacks.user_data, .lending(context), &reason) != false { return }
      let subject = "The callback \(name) of a migration of the store '\(store.path)' failed"
      guard quire_value_kind(rawValue: reason.kind) == QUIRE_VALUE_TEXT,
        case .text(let text)? = try? value(reason, "out_reason")
      else { throw Failure(.function, "\(subject) and gave no reason.") }
      throw Failure(.function, "\(subject): \(text)")
    }
  }
}

@_cdecl("quire_migration_step_count") @implementation
public func quire_migration_step_count(_ migration: UnsafePointer<quire_migration>?) -> Int64 {
  peek(migration).map { Int64($0.steps.count) } ?? 0
}

@_cdecl("quire_migration_get_step") @implementation
public func quire_migration_get_step(
  _ migration: UnsafePointer<quire_migration>?, _ index: Int64, _ out_step: UnsafeMutablePointer<quire_migration_step>?,
  _ out_error: ErrorOut
) -> quire_status {
  filling(out_step, out_error, named: "out_step") { () throws(Failure) in
    let migration = try resolve(migration, "migration")
    try migration.checkSteps()
    let step = try element(index, of: migration.steps, "index")
    return quire_migration_step(
      struct_size: 0, kind: step.kind.rawValue, entity: step.entity.lent,
      property: step.property.lent, sentence: step.sentence.lent, sql: step.sql.lent,
      stage: UInt32(clamping: step.stage), reserved: 0)
  }
}

extension quire_migration_step: FilledStruct {
  static var leastSize: Int { 72 }
  static var initializer: String { "QUIRE_MIGRATION_STEP_INIT" }
}

@_cdecl("quire_migration_run") @implementation
public func quire_migration_run(
  _ migration: UnsafeMutablePointer<quire_migration>?, _ cancellation: UnsafePointer<quire_cancellation>?,
  _ progress: UnsafePointer<quire_progress>?, _ out_error: ErrorOut
) -> quire_status {
  status(out_error) { () throws(Failure) in
    try ForeignCall.refuse()
    let migration = try resolve(migration, "migration")
    let cancellation = try cancellation == nil ? nil : resolve(cancellation, "cancellation")
    try migration.run(cancellation: cancellation, progress: try monitorProgress(progress))
  }
}
