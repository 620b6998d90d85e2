/// The part of a fetch that the store answers alone; what a context has not saved is laid over the answer above.
struct FetchPlan {
  var entity: Entity
  var includesSubentities = true
  var predicate: Predicate?
  /// What comes first in the order.
  var sections: SectionScan?
  /// Expressions whose values come with each row, of `Store.scan`.
  var values: [Expression] = []
  /// The primary key follows as the last sort key, so that no two rows tie.
  var sort: [BoundSort] = []
  /// nil for all; 0 is none.
  var limit: Int?
  var offset = 0
  /// Rows to leave out although they match; any number of them.
  var excluded: [Int64] = []
  /// When set, only these rows are looked at; any number of them.
  var isRestrictedTo: [Int64]?
  /// When set, only rows behind that place of the order.
  var after: Place?

  /// A row's place: the order of its section, if there are any, its values at the sort keys, and its id.
  struct Place {
    let values: [Value]
    let id: Int64
  }

  init(
    entity: Entity, includesSubentities: Bool = true, predicate: Predicate? = nil, sort: [BoundSort] = [],
    limit: Int? = nil, offset: Int = 0, excluded: [Int64] = [], isRestrictedTo: [Int64]? = nil
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
    self.excluded = excluded
    self.isRestrictedTo = isRestrictedTo
  }
}
