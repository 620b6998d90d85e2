/// A section of a live list, until its next change.
struct SectionInfo {
  let name: Text
  let value: Value
  let indexTitle: Text?
  let start: Int
  let count: Int
}
