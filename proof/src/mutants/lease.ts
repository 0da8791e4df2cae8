// Guards taken out of what the owner of a run holds to: its writes, its clocks, its lease.
import type { Mutant } from './mutant.ts'

export const LEASE_MUTANTS: Mutant[] = [
  {
    name: 'unknown-is-failure',
    guard: 'an unknown outcome is sent again, never a job failure (R6)',
    file: 'worker/lease/owner.ts',
    find: "if (hasCode(error, 'store_rejected')) {",
    replace: 'if (error) {',
  },
  {
    name: 'no-heartbeat',
    guard: 'a long step renews its lease',
    file: 'worker/lease/heartbeat.ts',
    find: 'void this.#beat(age)',
    replace: 'this.#beatIn(heartbeatMs)',
  },
  {
    name: 'refusal-ignored',
    guard: 'a refused write ends the execution (R1)',
    file: 'worker/lease/owner.ts',
    find: "if (!answer.ok) {\n          this.takenBack('another worker owns the run')",
    replace: 'if (!answer.ok) {\n          lease.renewedAt = sent',
  },
  {
    name: 'group-member-lost',
    guard: 'a write is answered by the transaction that holds it (B1)',
    file: 'worker/lease/commit-queue.ts',
    find: 'const outcomes = await this.#deps.runs.apply(group.map(({ write }) => write))',
    replace: `const outcomes = await this.#deps.runs.apply(group.slice(0, 2).map(({ write }) => write))
      while (outcomes.length < group.length) outcomes.push({ ok: true, cancelRequested: false })`,
  },
  {
    name: 'group-answers-mixed',
    guard: 'each member of a group gets its own answer',
    file: 'worker/lease/commit-queue.ts',
    find: 'resolve(outcomes[i] ?? { ok: false })',
    replace: 'resolve(outcomes[0] ?? { ok: false })',
  },
  {
    name: 'group-refusal-lost',
    guard: 'a member that is refused hears of it, also when the group is accepted',
    file: 'worker/lease/commit-queue.ts',
    find: 'resolve(outcomes[i] ?? { ok: false })',
    replace: 'resolve(group.length > 1 ? { ok: true, cancelRequested: false } : (outcomes[i] ?? { ok: false }))',
  },
  {
    name: 'group-sent-again',
    guard: 'a group with an unknown outcome is sent again unchanged (B4, R3)',
    file: 'worker/lease/commit-queue.ts',
    find: 'else for (const { reject } of group) reject(error)',
    replace: 'else await this.#commit(group.map((member) => ({ ...member, write: { ...member.write, number: member.write.number + 1 } })))',
  },
  {
    name: 'poison-spreads',
    guard: 'a value that the store rejects fails its own step only (B4)',
    file: 'worker/lease/commit-queue.ts',
    find: "if (group.length > 1 && hasCode(error, 'store_rejected')) for",
    replace: 'if (group.length > 100) for',
  },
  {
    name: 'writes-overtake',
    guard: 'the writes of a lease are sent one by one, in their order (O1, B2)',
    file: 'worker/lease/owner.ts',
    find: 'return new Promise((resolve) => this.#nextTurns.push(resolve))',
    replace: 'return Promise.resolve()',
    also: [
      {
        file: 'worker/lease/commit-queue.ts',
        find: 'if (group.size < GROUP_MAX && !group.has(runId)) group.set(runId, member)',
        replace: 'if (group.size < GROUP_MAX) group.set(runId + group.size, member)',
      },
      { file: 'worker/lease/commit-queue.ts', find: 'return [...group.values()]', replace: 'return [...group.values()].reverse()' },
    ],
  },
  {
    name: 'deadline-brought-forward',
    guard: 'a deadline counts from when the claim was answered, not from when it was sent',
    file: 'worker/lease/store-time.ts',
    find: 'return this.#said + this.#env.mono() - this.#answered.mono',
    replace: 'return this.#said + this.#env.mono() - this.#asked.mono',
  },
  {
    name: 'sleep-by-a-set-clock',
    guard: 'a sleep does not last longer because a clock was set forward (T1)',
    file: 'worker/lease/store-time.ts',
    find: 'return !clocksDiffer(this.#env, this.#asked)',
    replace: 'return true',
  },
  {
    name: 'rejected-not-taken-back',
    guard: 'what rode on data that the store rejects is taken back before the next write',
    file: 'worker/lease/owner.ts',
    find: 'takeBack?.()\n          throw error',
    replace: 'throw error',
  },
  {
    name: 'deadline-slept-through',
    guard: 'a deadline on which the clocks differ is asked of the store (T2)',
    file: 'worker/lease/store-time.ts',
    find: 'if (last - first < DIFFERENCE_MS_MAX) return byMono >= time',
    replace: 'if (first <= last) return byMono >= time',
  },
  {
    name: 'lease-slept-through',
    guard: 'who slept longer than its lease renews it before it starts a function',
    file: 'worker/lease/lease-age.ts',
    find: 'return elapsedMs(this.#env, this.renewedAt)',
    replace: 'return this.#env.mono() - this.renewedAt.mono',
    also: [
      {
        file: 'worker/lease/lease-age.ts',
        find: 'return clocksDiffer(this.#env, this.renewedAt)',
        replace: 'return clocksDiffer === null',
      },
    ],
  },
  {
    name: 'commits-one-by-one',
    guard: 'what many runs write in the same turn goes in one transaction (B1)',
    file: 'worker/lease/commit-queue.ts',
    find: 'if (this.#waiting.length === 1) return this.#waiting.splice(0)',
    replace: 'if (this.#waiting.length > 0) return this.#waiting.splice(0, 1)',
  },
  {
    name: 'transaction-believed',
    guard: 'after an unknown outcome the step of a transaction is looked for',
    store: 'sqlite',
    file: 'worker/lease/owner.ts',
    find: 'if (write && (await this.#isThere(write))) {',
    replace: 'if (write) {',
  },
]
