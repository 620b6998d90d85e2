import CQuire

/// What an expression gave, laid out as C reads it. It counts as a reference to the context of its objects.
final class Evaluation {
  let value: UnsafeMutablePointer<quire_value>
  private let item: Item
  private let context: Context?
  private let layout = ItemLayout { (subject) throws(Failure) in
    guard let object = subject as? ManagedObject else {
      throw Failure(.unsupported, "The expression gives an object that is in no context.")
    }
    var result = quire_value()
    result.kind = QUIRE_VALUE_OBJECT.rawValue
    result.as.object = .lending(object)
    return result
  }

  init(_ item: Item, in context: Context?) throws(Failure) {
    self.item = item
    self.context = context
    value = .allocate(capacity: 1)
    value.initialize(to: quire_value())
    context?.retainExternally(isPart: true)
    value.pointee = try layout.exported(item)
  }

  deinit {
    value.deallocate()
    context?.releaseExternally(isPart: true)
  }
}
