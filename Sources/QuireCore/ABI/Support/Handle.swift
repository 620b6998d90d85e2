import CQuire

/// A C struct that stands for one Swift class on the other side of the ABI. The pointer is the object itself.
protocol Handle {
  associatedtype Object: AnyObject
  /// What messages call it.
  static var name: String { get }
  /// Counts a reference that a caller holds, where the object belongs to a context.
  static func noteReference(to object: Object)
  /// Ends one, with the object or without.
  static func release(_ object: Object)
}

extension Handle {
  @inline(__always)
  static func noteReference(to object: Object) {}

  @inline(__always)
  static func release(_ object: Object) { Unmanaged.passUnretained(object).release() }
}

extension Handle where Object: ContextBound {
  @inline(__always)
  static func noteReference(to object: Object) { object.noteReference() }

  /// The context must not go before its last reference is counted.
  @inline(__always)
  static func release(_ object: Object) {
    let context = object.owningContext
    Unmanaged.passUnretained(object).release()
    context.releaseExternally(isPart: Object.isPart)
  }
}

extension quire_error: Handle { typealias Object = Failure; static var name: String { "quire_error" } }

extension quire_model: Handle { typealias Object = Model; static var name: String { "quire_model" } }

extension quire_store: Handle { typealias Object = Store; static var name: String { "quire_store" } }

extension quire_context: Handle { typealias Object = Context; static var name: String { "quire_context" } }

extension quire_moment: Handle { typealias Object = MomentToken; static var name: String { "quire_moment" } }

extension quire_object: Handle { typealias Object = ManagedObject; static var name: String { "quire_object" } }

extension quire_conflict: Handle { typealias Object = Conflict; static var name: String { "quire_conflict" } }

extension quire_predicate: Handle { typealias Object = ParsedPredicate; static var name: String { "quire_predicate" } }

extension quire_expression: Handle {
  typealias Object = ParsedExpression; static var name: String { "quire_expression" }
}

extension quire_evaluation: Handle {
  typealias Object = Evaluation; static var name: String { "quire_evaluation" }
}

extension quire_fetch_request: Handle {
  typealias Object = FetchRequest; static var name: String { "quire_fetch_request" }
}

extension quire_list: Handle { typealias Object = ObjectList; static var name: String { "quire_list" } }

extension quire_page: Handle { typealias Object = ExportedPage; static var name: String { "quire_page" } }

extension quire_results: Handle { typealias Object = ResultsController; static var name: String { "quire_results" } }

extension quire_composite: Handle {
  typealias Object = CompositeController; static var name: String { "quire_composite" }
}

extension quire_cancellation: Handle {
  typealias Object = Cancellation; static var name: String { "quire_cancellation" }
}

extension quire_migration: Handle { typealias Object = Migration; static var name: String { "quire_migration" } }

extension quire_history: Handle { typealias Object = ExportedHistory; static var name: String { "quire_history" } }

extension quire_snapshot: Handle { typealias Object = ListSnapshot; static var name: String { "quire_snapshot" } }

extension quire_section_rule: Handle {
  typealias Object = SectionRule; static var name: String { "quire_section_rule" }
}

extension quire_changes: Handle { typealias Object = ExportedChanges; static var name: String { "quire_changes" } }

extension Context: ContextBound {
  var owningContext: Context { self }
  static var isPart: Bool { false }
}

extension ManagedObject: ContextBound { var owningContext: Context { context } }

extension ObjectList: ContextBound { var owningContext: Context { context } }

extension ResultsController: ContextBound { var owningContext: Context { context } }

extension CompositeController: ContextBound { var owningContext: Context { context } }

extension UnsafeMutablePointer where Pointee: Handle {
  /// Passes one reference to the caller.
  @inline(__always)
  static func passing(_ object: Pointee.Object) -> Self {
    Pointee.noteReference(to: object)
    return Unmanaged.passRetained(object).toOpaque().assumingMemoryBound(to: Pointee.self)
  }

  /// The same where the type says that there is a context, so that it need not be asked at run time.
  static func passing(_ object: Pointee.Object) -> Self where Pointee.Object: ContextBound {
    object.noteReference()
    return Unmanaged.passRetained(object).toOpaque().assumingMemoryBound(to: Pointee.self)
  }

  /// The pointer without a reference, for a callback or a borrowed result. Another reference keeps the object alive.
  static func lending(_ object: Pointee.Object) -> Self {
    Unmanaged.passUnretained(object).toOpaque().assumingMemoryBound(to: Pointee.self)
  }
}

/// The object behind a handle, or nil for NULL and for a handle of another type.
///
/// The first word of every object is its class, so a mixed-up handle is found at the price of one comparison.
@inline(__always)
func peek<H: Handle>(_ pointer: UnsafePointer<H>?) -> H.Object? {
  guard let pointer else { return nil }
  let raw = UnsafeRawPointer(pointer)
  guard raw.load(as: UnsafeRawPointer.self) == unsafeBitCast(H.Object.self, to: UnsafeRawPointer.self) else {
    return nil
  }
  return Unmanaged<H.Object>.fromOpaque(raw).takeUnretainedValue()
}

func peek<H: Handle>(_ pointer: UnsafeMutablePointer<H>?) -> H.Object? { peek(UnsafePointer(pointer)) }

/// The object behind a handle that the call needs; `name` is the parameter's.
func resolve<H: Handle>(_ pointer: UnsafePointer<H>?, _ name: InputName) throws(Failure) -> H.Object {
  if let object = peek(pointer) { return object }
  throw Failure(
    .invalidArgument,
    pointer == nil ? "'\(name)' is NULL; a \(H.name) is needed." : "'\(name)' is not a \(H.name) but another handle.")
}

func resolve<H: Handle>(_ pointer: UnsafeMutablePointer<H>?, _ name: InputName) throws(Failure) -> H.Object {
  try resolve(UnsafePointer(pointer), name)
}

/// Body of every `_retain`: NULL and handles of another type come back as they are.
func retain<H: Handle>(_ pointer: UnsafePointer<H>?) -> UnsafeMutablePointer<H>? {
  if let object = peek(pointer) { _ = UnsafeMutablePointer<H>.passing(object) }
  return UnsafeMutablePointer(mutating: pointer)
}

/// The same for what belongs to a context.
func retain<H: Handle>(_ pointer: UnsafePointer<H>?) -> UnsafeMutablePointer<H>? where H.Object: ContextBound {
  if let object = peek(pointer) { _ = UnsafeMutablePointer<H>.passing(object) }
  return UnsafeMutablePointer(mutating: pointer)
}

/// Body of every `_release`.
func release<H: Handle>(_ pointer: UnsafeMutablePointer<H>?) {
  if let object = peek(pointer) { H.release(object) }
}
