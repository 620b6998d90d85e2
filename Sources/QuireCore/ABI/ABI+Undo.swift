import CQuire

@_cdecl("quire_context_enable_undo") @implementation
public func quire_context_enable_undo(
  _ context: UnsafeMutablePointer<quire_context>?, _ levels: UInt64, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    try context.enableUndo(levels: number(levels, "levels"))
  }
}

@_cdecl("quire_context_disable_undo") @implementation
public func quire_context_disable_undo(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.disableUndo() }
}

@_cdecl("quire_context_is_undo_enabled") @implementation
public func quire_context_is_undo_enabled(_ context: UnsafePointer<quire_context>?) -> Bool {
  value(context, none: false) { $0.undoManager != nil }
}

@_cdecl("quire_context_begin_undo_group") @implementation
public func quire_context_begin_undo_group(
  _ context: UnsafeMutablePointer<quire_context>?, _ name: CText, _ name_size: Int, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    try context.beginUndoGroup(named: name == nil ? nil : text(name, name_size, "name"))
  }
}

@_cdecl("quire_context_end_undo_group") @implementation
public func quire_context_end_undo_group(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.endUndoGroup() }
}

@_cdecl("quire_context_can_undo") @implementation
public func quire_context_can_undo(_ context: UnsafePointer<quire_context>?) -> Bool {
  value(context, none: false) { $0.undoManager?.canUndo == true }
}

@_cdecl("quire_context_can_redo") @implementation
public func quire_context_can_redo(_ context: UnsafePointer<quire_context>?) -> Bool {
  value(context, none: false) { $0.undoManager?.canRedo == true }
}

@_cdecl("quire_context_undo_name") @implementation
public func quire_context_undo_name(_ context: UnsafePointer<quire_context>?) -> quire_string {
  value(context, none: noText) { $0.undoManager?.undoName?.lent ?? noText }
}

@_cdecl("quire_context_redo_name") @implementation
public func quire_context_redo_name(_ context: UnsafePointer<quire_context>?) -> quire_string {
  value(context, none: noText) { $0.undoManager?.redoName?.lent ?? noText }
}

@_cdecl("quire_context_undo") @implementation
public func quire_context_undo(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_list: Out<quire_list>, _ out_error: ErrorOut
) -> quire_status {
  revert(context, out_list, out_error) { context throws(Failure) in try context.undo() }
}

@_cdecl("quire_context_redo") @implementation
public func quire_context_redo(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_list: Out<quire_list>, _ out_error: ErrorOut
) -> quire_status {
  revert(context, out_list, out_error) { context throws(Failure) in try context.redo() }
}

private func revert(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_list: Out<quire_list>, _ out_error: ErrorOut,
  _ body: (Context) throws(Failure) -> [ManagedObject]
) -> quire_status {
  out_list?.pointee = nil
  return status(context, "context", out_error) { context throws(Failure) in
    let objects = try body(context)
    out_list?.pointee = .passing(ObjectList(context: context, objects: objects, entity: nil))
  }
}

@_cdecl("quire_context_set_undo_registration") @implementation
public func quire_context_set_undo_registration(
  _ context: UnsafeMutablePointer<quire_context>?, _ is_registering: Bool, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in
    try context.setUndoRegistration(is_registering)
  }
}

@_cdecl("quire_context_is_undo_registering") @implementation
public func quire_context_is_undo_registering(_ context: UnsafePointer<quire_context>?) -> Bool {
  value(context, none: false) { $0.undoManager?.isRegistering == true }
}

@_cdecl("quire_context_remove_undo_actions") @implementation
public func quire_context_remove_undo_actions(
  _ context: UnsafeMutablePointer<quire_context>?, _ out_error: ErrorOut
) -> quire_status {
  status(context, "context", out_error) { context throws(Failure) in try context.removeAllUndoActions() }
}
