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
      let target = try resolve(target, "target")
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
    let step = try element(index, of: resolve(migration, "migration").steps, "index")
    return quire_migration_step(
      struct_size: 0, kind: step.kind.rawValue, entity: step.entity.lent,
      property: step.property.lent, sentence: step.sentence.lent, sql: step.sql.lent)
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
