import CQuire

@_cdecl("quire_changes_retain") @implementation
public func quire_changes_retain(
  _ changes: UnsafePointer<quire_changes>?
) -> UnsafeMutablePointer<quire_changes>? { retain(changes) }

@_cdecl("quire_changes_release") @implementation
public func quire_changes_release(_ changes: UnsafeMutablePointer<quire_changes>?) { release(changes) }

@_cdecl("quire_changes_rows") @implementation
public func quire_changes_rows(_ changes: UnsafePointer<quire_changes>?) -> quire_change_array {
  quire_change_array(peek(changes)?.rows)
}

@_cdecl("quire_changes_row_count") @implementation
public func quire_changes_row_count(_ changes: UnsafePointer<quire_changes>?) -> Int64 {
  Int64(peek(changes)?.rowCount ?? 0)
}

@_cdecl("quire_changes_contents_may_differ") @implementation
public func quire_changes_contents_may_differ(_ changes: UnsafePointer<quire_changes>?) -> Bool {
  peek(changes)?.changes.contentsMayDiffer ?? false
}

@_cdecl("quire_changes_sections") @implementation
public func quire_changes_sections(_ changes: UnsafePointer<quire_changes>?) -> quire_section_change_array {
  quire_section_change_array(peek(changes)?.sections)
}

@_cdecl("quire_changes_steps") @implementation
public func quire_changes_steps(_ changes: UnsafePointer<quire_changes>?) -> quire_step_array {
  quire_step_array(peek(changes)?.steps)
}

@_cdecl("quire_changes_plan") @implementation
public func quire_changes_plan(
  _ changes: UnsafePointer<quire_changes>?, _ order: UInt32, _ splits_moves: Bool,
  _ out_steps: UnsafeMutablePointer<quire_step_array>?, _ out_error: ErrorOut
) -> quire_status {
  out_steps?.pointee = quire_step_array()
  return unconfined(changes, "changes", out_error) { changes throws(Failure) in
    let out = try required(out_steps, "out_steps")
    guard let plan = ListPlan(rawValue: Int(order)) else {
      throw Failure(.invalidArgument, "'order' is \(order), which is not a quire_plan_order.")
    }
    out.pointee = quire_step_array(changes.plan(plan, splitsMoves: splits_moves))
  }
}

@_cdecl("quire_changes_aggregates") @implementation
public func quire_changes_aggregates(_ changes: UnsafePointer<quire_changes>?) -> quire_aggregate_change_array {
  quire_aggregate_change_array(peek(changes)?.aggregates)
}

@_cdecl("quire_changes_children") @implementation
public func quire_changes_children(_ changes: UnsafePointer<quire_changes>?) -> quire_child_frame_array {
  quire_child_frame_array(peek(changes)?.parts)
}

@_cdecl("quire_changes_map_positions") @implementation
public func quire_changes_map_positions(
  _ changes: UnsafePointer<quire_changes>?, _ old_rows: UnsafePointer<Int64>?, _ count: Int,
  _ out_rows: UnsafeMutablePointer<Int64>?, _ out_error: ErrorOut
) -> quire_status {
  unconfined(changes, "changes", out_error) { changes throws(Failure) in
    let rows = try array(old_rows, count, "old_rows"), out = try array(out_rows, count, "out_rows")
    changes.mapPositions(rows, into: out)
  }
}
