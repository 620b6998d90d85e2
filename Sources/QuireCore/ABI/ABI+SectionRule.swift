import CQuire

@_cdecl("quire_section_rule_create") @implementation
public func quire_section_rule_create(
  _ key_path: CText, _ key_path_size: Int, _ options: UnsafePointer<quire_section_rule_options>?,
  _ out_rule: Out<quire_section_rule>, _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_rule, "out_rule", out_error) { () throws(Failure) in
    let keyPath = try keyPath(key_path, key_path_size)
    return try sectionRule(.keyPath([Key](named: keyPath)), options)
  }
}

@_cdecl("quire_section_rule_create_with_expression") @implementation
public func quire_section_rule_create_with_expression(
  _ expression: UnsafePointer<quire_expression>?, _ options: UnsafePointer<quire_section_rule_options>?,
  _ out_rule: Out<quire_section_rule>, _ out_error: ErrorOut
) -> quire_status {
  status(giving: out_rule, "out_rule", out_error) { () throws(Failure) in
    try sectionRule(resolve(expression, "expression").expression, options)
  }
}

@_cdecl("quire_section_rule_retain") @implementation
public func quire_section_rule_retain(
  _ rule: UnsafePointer<quire_section_rule>?
) -> UnsafeMutablePointer<quire_section_rule>? { retain(rule) }

@_cdecl("quire_section_rule_release") @implementation
public func quire_section_rule_release(_ rule: UnsafeMutablePointer<quire_section_rule>?) { release(rule) }

private func sectionRule(
  _ key: Expression, _ options: UnsafePointer<quire_section_rule_options>?
) throws(Failure) -> SectionRule {
  let chosen = try QuireCore.options(options, defaults: quire_section_rule_options(), "options")
  guard let order = TextOrder.Kind(rawValue: chosen.text_order) else {
    throw Failure(.invalidArgument, "'text_order' is \(chosen.text_order), which is not a quire_text_order.")
  }
  let grouping = try grouping(chosen)
  var textOrder = TextOrder.binary
  if case .value = grouping {
    textOrder = try TextOrder(order, locale: optionalString(chosen.locale, "locale") ?? "")
  } else if order != .binary {
    throw Failure(
      .invalidArgument, "A text order, here \(chosen.text_order), is for sections by value. Leave 'text_order' at 0.")
  }
  var fixed: [Value] = []
  for section in try array(chosen.fixed_sections, chosen.fixed_section_count, "fixed_sections") {
    fixed.append(try value(section, "fixed_sections"))
  }
  return try SectionRule(key, grouping, isDescending: chosen.is_descending, textOrder: textOrder, fixed: fixed)
}

private func grouping(_ options: quire_section_rule_options) throws(Failure) -> SectionGrouping {
  let locale = try optionalString(options.locale, "locale") ?? ""
  func period(_ unit: SectionGrouping.Unit) throws(Failure) -> SectionGrouping {
    .period(
      unit, timeZone: try optionalString(options.time_zone, "time_zone") ?? "UTC",
      zoneFolder: try optionalString(options.time_zone_folder, "time_zone_folder"), locale: locale)
  }
  switch quire_section_grouping(rawValue: options.grouping) {
  case QUIRE_GROUPING_VALUE: return .value
  case QUIRE_GROUPING_LETTER:
    return .letter(
      locales: locale.split(separator: ",", omittingEmptySubsequences: false).map { String($0.drop { $0 == " " }) })
  case QUIRE_GROUPING_DAY: return try period(.day)
  case QUIRE_GROUPING_WEEK: return try period(.week)
  case QUIRE_GROUPING_MONTH: return try period(.month)
  case QUIRE_GROUPING_YEAR: return try period(.year)
  case QUIRE_GROUPING_NUMBER:
    let bounds = try array(options.bounds, options.bound_count, "bounds")
    return bounds.isEmpty ? .step(width: options.width, origin: options.origin) : .bounds(Array(bounds))
  default:
    throw Failure(.invalidArgument, "'grouping' is \(options.grouping), which is not a quire_section_grouping.")
  }
}
