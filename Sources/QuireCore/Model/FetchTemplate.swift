/// A request that a model keeps under a name. Of what it is made, higher layers know.
protocol FetchTemplate: AnyObject {
  var entityName: String { get }
}
