import Glibc
import Synchronization
import Testing

@testable import QuireCore

/// A gate that is opened once.
private final class Gate: @unchecked Sendable {
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(semaphore, 0, 0) }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func open() { sem_post(semaphore) }

  /// Whether it was opened within two minutes.
  func wait() -> Bool {
    var end = timespec()
    clock_gettime(CLOCK_REALTIME, &end)
    end.tv_sec += 120
    while sem_timedwait(semaphore, &end) != 0 { if errno != EINTR { return false } }
    return true
  }
}

/// An opening on a thread of its own, which is held up until the test lets it go on.
private final class HeldOpening: @unchecked Sendable {
  private let began = Gate(), goesOn = Gate()
  private let path: Text
  private let work: @Sendable () -> Void
  private var thread = pthread_t()
  private(set) var claim: FileClaim?
  /// Whether it was held up for as long as the test wanted, and not until it lost its patience.
  private(set) var wasReleased = false
  private let hasEnded = Atomic<Bool>(false)
  var isOver: Bool { hasEnded.load(ordering: .sequentiallyConsistent) }

  /// `work` is what it does before it is held up.
  init(_ path: Text, _ work: @escaping @Sendable () -> Void = {}) {
    self.path = path
    self.work = work
    let me = Unmanaged.passRetained(self).toOpaque()
    pthread_create(
      &thread, nil,
      { data in
        Unmanaged<HeldOpening>.fromOpaque(data!).takeRetainedValue().run()
        return nil
      }, me)
    #expect(began.wait())
  }

  private func run() {
    (wasReleased, claim) = FileClaim.opening(path) {
      work()
      began.open()
      let isReleased = goesOn.wait()
      hasEnded.store(true, ordering: .sequentiallyConsistent)
      return isReleased
    }
  }

  func letGoOn() { goesOn.open() }

  func finish() {
    letGoOn()
    pthread_join(thread, nil)
  }
}

@Suite("Files that the process has open", .serialized)
struct FileClaimTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("An opening that takes long holds up no opening of another file")
  func slowOpening() throws {
    let slow = HeldOpening(Text(folder.file("slow")))
    let (isOver, _) = FileClaim.opening(Text(folder.file("fast"))) { slow.isOver }
    #expect(!isOver)
    let store = try Store.open(path: Text(folder.file("store")), model: LibraryFixture.makeModel())
    try store.close()
    #expect(!slow.isOver)
    slow.finish()
    #expect(slow.wasReleased)
  }

  @Test("A file is claimed while it is opened, from the moment that it is there, and until the claim goes")
  func claims() throws {
    let name = folder.file("made"), path = Text(name), otherName = Text("\(folder.path)/./made")
    #expect(!FileClaim.isClaimed(path))
    do {
      let before = HeldOpening(path)
      #expect(!FileClaim.isClaimed(path))
      try folder.write([], to: "made")
      #expect(FileClaim.isClaimed(path) && FileClaim.isClaimed(otherName) && !FileClaim.isShared(path))
      let second = HeldOpening(otherName)
      #expect(FileClaim.isShared(path))
      before.finish()
      #expect(FileClaim.isShared(path) && FileClaim.isShared(otherName))
      second.finish()
      #expect(FileClaim.isShared(path))
      #expect(before.claim != nil && second.claim != nil)
    }
    #expect(!FileClaim.isClaimed(path))
    try folder.write([], to: "another")
    do {
      let opening = HeldOpening(path)
      #expect(FileClaim.isClaimed(path) && !FileClaim.isClaimed(Text(folder.file("another"))))
      opening.finish()
    }
  }

  @Test("A deletion does not take a file that is being opened")
  func deletion() throws {
    let path = LibraryFixture.path(in: folder)
    _ = try LibraryFixture(in: folder).store.close()
    let opening = HeldOpening(path)
    let failure = #expect(throws: Failure.self) { try Store.delete(path: path) }
    #expect(failure?.kind == .busy)
    opening.finish()
  }

  @Test("A fork waits for openings that are under way")
  func fork() throws {
    typealias Fork = @convention(c) () -> pid_t
    let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: Fork.self)
    let opening = HeldOpening(Text(folder.file("slow"))), me = OtherThread.folderOfThisThread()
    let releaser = OtherThread {
      OtherThread.wait { OtherThread.isAsleep(me) }
      opening.letGoOn()
    }
    let child = fork()
    if child == 0 { _exit(opening.isOver ? 7 : 8) }
    var status: Int32 = 0
    #expect(waitpid(child, &status, 0) == child)
    releaser.join()
    opening.finish()
    #expect(opening.wasReleased && status == 7 << 8)
  }
}
