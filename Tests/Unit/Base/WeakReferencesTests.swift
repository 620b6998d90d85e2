import Testing

@testable import QuireCore

/// Refers to an object, and counts how often it is asked whether that is still there.
private struct CountedReference: WeakReference {
  weak var object: AnyObject?
  let asked: Counter

  var isGone: Bool {
    asked.increment()
    return object == nil
  }
}

private final class Object {}

struct WeakReferencesTests {
  @Test("Adding a reference asks a few others, however many there are", arguments: [100, 20_000])
  func addingIsCheap(count: Int) {
    let asked = Counter()
    var references = WeakReferences<CountedReference>()
    var objects: [Object] = []
    for _ in 0..<count {
      objects.append(Object())
      references.add(CountedReference(object: objects.last, asked: asked))
    }
    #expect(references.all.count == count)
    #expect(Int(asked.value) <= 2 * count)
  }

  @Test("References without objects are never more than there are others")
  func droppingKeepsUp() {
    var references = WeakReferences<CountedReference>()
    let asked = Counter(), kept = (0..<100).map { _ in Object() }
    for object in kept { references.add(CountedReference(object: object, asked: asked)) }
    for _ in 0..<20_000 {
      let object = Object()
      references.add(CountedReference(object: object, asked: asked))
      #expect(references.all.count <= 2 * kept.count)
    }
    withExtendedLifetime(kept) { #expect(references.all.prefix(100).compactMap(\.object).count == 100) }
  }
}
