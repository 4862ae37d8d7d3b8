import Dispatch

/// Runs what a channel tells its app, one after the other, in the order in which it was enqueued. Safe from any thread.
///
/// What belongs to no actor runs on a serial queue of the channel's own; what belongs to one, such as the main actor, runs there, and the
/// next waits for it. A call that blocks holds up those after it and none of the threads of Swift's tasks.
final class HandlerQueue: Sendable {
  typealias Job = @Sendable () async -> Void

  /// A serial queue as the place where a task's code runs that belongs to no actor.
  private final class Executor: TaskExecutor {
    private let queue = DispatchQueue(label: "sora.channel")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  private let jobs: AsyncStream<Job>.Continuation

  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Job.self)
    jobs = continuation
    // Ends with this object, once what was enqueued has run: the stream alone is held.
    Task.detached(executorPreference: Executor()) {
      for await job in stream { await job() }
    }
  }

  deinit { jobs.finish() }

  /// Returns at once.
  func enqueue(_ job: @escaping Job) { jobs.yield(job) }
}
