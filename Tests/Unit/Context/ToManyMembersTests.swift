import Testing

@testable import QuireCore

@Suite("To-many members")
struct ToManyMembersTests {
  /// The same in the plainest way: two arrays, compared when asked.
  private struct Plain {
    let isOrdered: Bool
    var members: [Int64]
    var saved: [Int64]
    var isChanged: Bool { isOrdered ? members != saved : Set(members) != Set(saved) }
  }

  @Test("Random changes give what two plain arrays give", arguments: Dice.seeds(3))
  func randomChanges(seed: UInt64) {
    var random = SplitMix(seed: seed)
    for isOrdered in [false, true] {
      func reference(_ id: Int64) -> ObjectReference { ObjectReference(root: 1, id: id) }
      func ids(_ references: [ObjectReference]) -> [Int64] {
        isOrdered ? references.map(\.id) : references.map(\.id).sorted()
      }
      var plain = Plain(isOrdered: isOrdered, members: [1, 2, 3], saved: [1, 2, 3])
      var members = ToManyMembers(
        plain.members.map(reference), saved: plain.saved.map(reference), isOrdered: isOrdered)
      var next: Int64 = 20
      for step in 0..<3000 {
        let id = Int64.random(in: 1...12, using: &random)
        switch Int.random(in: 0..<21, using: &random) {
        case 0..<8:
          members.add(reference(id))
          if !plain.members.contains(id) { plain.members.append(id) }
        case 8..<16:
          members.remove(reference(id))
          plain.members.removeAll { $0 == id }
        case 20:
          members.addSaved(reference(id))
          if !plain.members.contains(id) {
            plain.members.append(id)
            if !plain.saved.contains(id) { plain.saved.append(id) }
          }
        case 16 where isOrdered:
          plain.members.shuffle(using: &random)
          members.reorder(plain.members.map(reference))
        case 17:
          members.commit()
          plain.saved = plain.members
        case 18:
          members.forget([reference(id)])
          plain.members.removeAll { $0 == id }
          plain.saved.removeAll { $0 == id }
        case 19:
          members.add(reference(-id))
          members.replace([reference(-id): reference(next)])
          plain.members.append(next)
          next += 1
        default: break
        }
        let expected = Plain(isOrdered: isOrdered, members: plain.members, saved: plain.saved)
        #expect(ids(members.members) == (isOrdered ? expected.members : expected.members.sorted()), "step \(step)")
        #expect(members.isChanged == expected.isChanged, "step \(step)")
        #expect(Set(members.addedMembers.map(\.id)) == Set(expected.members).subtracting(expected.saved))
        #expect(Set(members.removedMembers.map(\.id)) == Set(expected.saved).subtracting(expected.members))
        for id in Int64(1)...12 { #expect(members.contains(reference(id)) == expected.members.contains(id)) }
      }
    }
  }

  @Test("Members of unsaved objects are no change until one is added or removed")
  func overlay() {
    let saved = ObjectReference(root: 1, id: 1), pending = ObjectReference(root: 1, id: -1)
    var members = ToManyMembers([saved, pending], saved: [saved], isOrdered: false)
    #expect(!members.isChanged)
    members.remove(saved)
    #expect(members.isChanged && members.removedMembers == [saved] && members.addedMembers == [pending])
    members.add(saved)
    members.remove(pending)
    #expect(!members.isChanged)
  }
}
