/** Names for calls without one: the name of the job, and a count from the second call on. */
export class ChildNames {
  readonly #counts = new Map<string, number>()

  /** A call without a job is refused as a step, which needs a name all the same. */
  next(verb: 'trigger' | 'invoke', jobName = 'without a job'): string {
    const name = `${verb} ${jobName}`
    const count = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, count)
    return count === 1 ? name : `${name} ${count}`
  }
}
