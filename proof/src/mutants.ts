// Mutants: guards of this engine, each taken out. The proof must find every one of them, or it proves nothing.
// Each is a patch of the source, applied when a build of its own is made; one that does not match exactly once is an error.

export interface Patch {
  file: string
  find: string
  replace: string
}

export interface Mutant extends Patch {
  name: string
  /** What is taken out, in words. */
  guard: string
  /** Where one place is not enough. */
  also?: Patch[]
}

export const MUTANTS: Mutant[] = [
  {
    name: 'no-fence',
    guard: 'owner writes need generation and token (W1)',
    file: 'store/memory/owner-write.ts',
    find: "return row.status === 'running' && row.leaseGeneration === claim.generation && row.leaseOwner === claim.token",
    replace: "return row.status === 'running' && claim.generation > 0",
  },
  {
    name: 'same-generation',
    guard: 'every claim raises the generation',
    file: 'store/memory/runs.ts',
    find: 'const generation = row.leaseGeneration + 1',
    replace: 'const generation = Math.max(1, row.leaseGeneration)',
  },
  {
    name: 'no-write-number',
    guard: 'a write sent twice counts once (W2)',
    file: 'store/memory/owner-write.ts',
    find: 'return isSameLease && number <= row.leaseWrites',
    replace: 'return isSameLease && number < 0',
  },
  {
    name: 'unknown-is-failure',
    guard: 'an unknown outcome is sent again, never a job failure (R6)',
    file: 'worker/owner.ts',
    find: "if (hasCode(error, 'store_rejected')) throw error",
    replace: 'throw error',
  },
  {
    name: 'no-heartbeat',
    guard: 'a long step renews its lease',
    file: 'worker/heartbeat.ts',
    find: 'void this.#beat(age)',
    replace: 'this.#arm(intervalMs)',
  },
  {
    name: 'lease-not-renewed',
    guard: 'an accepted write moves the end of the lease',
    file: 'store/memory/tables.ts',
    find: 'row.leaseExpiresAt = this.nowMs + leaseMs',
    replace: 'row.leaseExpiresAt = row.leaseExpiresAt ?? leaseMs',
  },
  {
    name: 'no-reap',
    guard: 'lost runs are taken back',
    file: 'worker/reap.ts',
    find: 'const reaped = await kit.store.runs.reap({ maxRecoveries: kit.maxRecoveries })',
    replace: 'const reaped: Reaped[] = []',
  },
  {
    name: 'reap-the-living',
    guard: 'only a lease that is over is taken back',
    file: 'store/memory/reap.ts',
    find: 'if (leaseEnd(row) > nowMs || lost.length === REAP_MAX) break',
    replace: 'if (lost.length === REAP_MAX) break',
  },
  {
    name: 'cancel-overwrites',
    guard: 'a running run is only asked to stop',
    file: 'store/memory/runs.ts',
    find: "if (canMove('cancel', row.status)) {",
    replace: 'if (!isTerminal(row.status)) {',
  },
  {
    name: 'key-not-held',
    guard: 'one running run per concurrency key',
    file: 'store/memory/tables.ts',
    find: 'if (row.concurrencyKey !== null) this.#hold(row.concurrencyKey)',
    replace: 'if (row.concurrencyKey === undefined) this.#hold(row.concurrencyKey)',
  },
  {
    name: 'steps-not-read',
    guard: 'completed steps are read after the claim (R4)',
    file: 'worker/claim-runs.ts',
    find: 'if (run.leaseGeneration === 1) return []',
    replace: 'if (run.leaseGeneration >= 1) return []',
  },
  {
    name: 'refusal-ignored',
    guard: 'a refused write ends the execution (R1)',
    file: 'worker/owner.ts',
    find: "if (!answer.ok) {\n          this.lose('another worker owns the run')",
    replace: 'if (!answer.ok) {\n          lease.renewed(sent)',
  },
  {
    name: 'poison-ignored',
    guard: 'whoever was told to stop starts nothing more (X1)',
    file: 'worker/execution.ts',
    find: 'if (!this.interrupted) return',
    replace: 'if (this.run) return',
  },
  {
    name: 'siblings-abandoned',
    guard: 'nothing ends while a step is in flight (X2)',
    file: 'worker/execution.ts',
    find: 'while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight)',
    replace: '',
  },
  {
    name: 'late-claim-starts',
    guard: 'a lease is as old as its request, not its answer',
    file: 'worker/claim-runs.ts',
    find: 'runs.map((run) => ({ run, lease: new LeaseAge(env, sent) }))',
    replace: 'runs.map((run) => ({ run, lease: new LeaseAge(env, momentOf(env)) }))',
  },
  {
    name: 'retry-anything',
    guard: 'only a failed run can be retried',
    file: 'store/memory/runs.ts',
    find: "if (!canMove('retry', row.status)) return",
    replace: 'if (!isTerminal(row.status)) return',
  },
  {
    name: 'move-untold',
    guard: 'a move and its event are written together (S5)',
    file: 'store/memory/runs.ts',
    find: 'tables.move(record, move, columns, [{ type: eventOf(move), payload: {}, createdAt: tables.nowIso }])',
    replace: 'tables.move(record, move, columns, [])',
  },
  {
    name: 'no-recovery-cap',
    guard: 'a run that keeps killing its worker fails in the end',
    file: 'store/memory/reap.ts',
    find: 'if (row.recoveries + 1 <= maxRecoveries) return',
    replace: 'if (maxRecoveries >= 0) return',
  },
  {
    name: 'idempotency-ignored',
    guard: 'one run per job and idempotency key',
    file: 'store/memory/runs.ts',
    find: 'if (known) return { run: { ...known.row }, created: false }',
    replace: 'if (known && !run) return { run: known, created: false }',
  },
  {
    name: 'recorded-runs-again',
    guard: 'a completed step is found by its name (J1)',
    file: 'worker/step-runner.ts',
    find: "if (recorded) return readStepColumn(recorded, 'output', codec)",
    replace: '',
  },
  {
    name: 'group-member-lost',
    guard: 'a write is answered by the transaction that holds it (B1)',
    file: 'worker/commit-queue.ts',
    find: 'const outcomes = await this.#parts.runs.apply(group.map(({ write }) => write))',
    replace: `const outcomes = await this.#parts.runs.apply(group.slice(0, 2).map(({ write }) => write))
      while (outcomes.length < group.length) outcomes.push({ ok: true, cancelRequested: false })`,
  },
  {
    name: 'group-answers-mixed',
    guard: 'each member of a group gets its own answer',
    file: 'worker/commit-queue.ts',
    find: 'resolve(outcomes[i] ?? { ok: false })',
    replace: 'resolve(outcomes[0] ?? { ok: false })',
  },
  {
    name: 'group-refusal-lost',
    guard: 'a member that is refused hears of it, also when the group is accepted',
    file: 'worker/commit-queue.ts',
    find: 'resolve(outcomes[i] ?? { ok: false })',
    replace: 'resolve(group.length > 1 ? { ok: true, cancelRequested: false } : (outcomes[i] ?? { ok: false }))',
  },
  {
    name: 'group-sent-again',
    guard: 'a group with an unknown outcome is sent again unchanged (B4, R3)',
    file: 'worker/commit-queue.ts',
    find: 'else for (const { reject } of group) reject(error)',
    replace: 'else await this.#commit(group.map((member) => ({ ...member, write: { ...member.write, number: member.write.number + 1 } })))',
  },
  {
    name: 'poison-spreads',
    guard: 'a value that the store rejects fails its own step only (B4)',
    file: 'worker/commit-queue.ts',
    find: "if (group.length > 1 && hasCode(error, 'store_rejected')) for",
    replace: 'if (group.length > 100) for',
  },
  {
    name: 'writes-overtake',
    guard: 'the writes of a lease are sent one by one, in their order (O1, B2)',
    file: 'worker/owner.ts',
    find: 'const sent = this.#tail.then(() => this.#send(verb, rides))',
    replace: 'const sent = Promise.resolve().then(() => this.#send(verb, rides))',
    also: [
      {
        file: 'worker/commit-queue.ts',
        find: 'if (group.size < GROUP_MAX && !group.has(runId)) group.set(runId, member)',
        replace: 'if (group.size < GROUP_MAX) group.set(runId + group.size, member)',
      },
      { file: 'worker/commit-queue.ts', find: 'return [...group.values()]', replace: 'return [...group.values()].reverse()' },
    ],
  },
  {
    name: 'steps-read-early',
    guard: 'completed steps are read after the claim, not before it (R4)',
    file: 'worker/claim-runs.ts',
    find: 'return claimed(await store.runs.claim({ jobNames: [...jobs.keys()], tokens, leaseMs }))',
    replace: `const runs = await store.runs.claim({ jobNames: [...jobs.keys()], tokens, leaseMs })
    const early = kit.early ?? new Map()
    kit.early = new Map()
    for (const { id } of await store.runs.list({})) kit.early.set(id, await store.steps.list(id))
    return claimed(runs.map((run) => ({ ...run, early: early.get(run.id) })))`,
    also: [
      {
        file: 'worker/claim-runs.ts',
        find: 'return untilLeaseIsOver(kit, () => kit.store.steps.list(run.id))',
        replace: 'return run.early ?? untilLeaseIsOver(kit, () => kit.store.steps.list(run.id))',
      },
    ],
  },
  {
    name: 'adopts-only-one',
    guard: 'after a claim with an unknown outcome all of its tokens are looked up (R4)',
    file: 'worker/claim-runs.ts',
    find: 'store.runs.adopt(tokens)',
    replace: 'store.runs.adopt(tokens.slice(0, 1))',
  },
  {
    name: 'starts-only-one',
    guard: 'every run that was claimed is started',
    file: 'worker/worker.ts',
    find: 'for (const one of claimed) void this.#launch(one)',
    replace: 'for (const one of claimed.slice(0, 1)) void this.#launch(one)',
  },
  {
    name: 'no-reset',
    guard: 'a claim takes back what the attempt before it had put out',
    file: 'store/memory/runs.ts',
    find: '...decodeStreams(row.streams).map(',
    replace: '...decodeStreams(null).map(',
  },
  {
    name: 'reset-keeps-all',
    guard: 'only what stood at the last checkpoint is kept (F2)',
    file: 'worker/stream-writer.ts',
    find: 'if (!open) execution.streams.set({ stepName, kept: 0, state: null })',
    replace: 'execution.streams.set({ stepName, kept: this.#written, state: open?.state ?? null })',
  },
  {
    name: 'checkpoint-without-chunks',
    guard: 'a checkpoint is written together with what came before it (F5)',
    file: 'worker/stream-writer.ts',
    find: 'this.#tell({ from, chunks: encoded, state: checkpoint.state })',
    replace: '',
  },
  {
    name: 'checkpoint-not-awaited',
    guard: 'a checkpoint is acknowledged when it is written (F5)',
    file: 'worker/stream-writer.ts',
    find: 'await this.#begin({ state: encoded, kept })',
    replace: 'void this.#begin({ state: encoded, kept })',
  },
  {
    name: 'checkpoint-keeps-later',
    guard: 'what came after a checkpoint was asked for is not kept (F5)',
    file: 'worker/stream-writer.ts',
    find: 'execution.streams.set({ stepName, ...checkpoint })',
    replace: 'execution.streams.set({ stepName, ...checkpoint, kept: this.#written })',
  },
  {
    name: 'kept-not-read',
    guard: 'an attempt that goes on has the output up to its checkpoint',
    file: 'worker/kept-chunks.ts',
    find: 'if (kept === 0 || !store.eventLog) return chunks',
    replace: 'if (kept >= 0 || !store.eventLog) return chunks',
  },
  {
    name: 'stream-unfenced',
    guard: 'chunks need the lease like every other write (W1)',
    file: 'store/memory/owner-write.ts',
    find: 'if (!isOwner(row, write) || !isPossible(record, write.verb)) return { ok: false }',
    replace: `if (!isOwner(row, write) && row.status === 'running')
    tables.tell(record, write.events.filter(({ type }) => type === 'stream:chunk'))
  if (!isOwner(row, write) || !isPossible(record, write.verb)) return { ok: false }`,
  },
  {
    name: 'stream-not-compacted',
    guard: 'the record of a stream replaces its chunks (F6)',
    file: 'store/memory/owner-write.ts',
    find: 'if (verb.endsStream) tables.forgetStream(record, verb.step.name)',
    replace: '',
  },
  {
    name: 'stream-ends-early',
    guard: 'the whole output is written in the transaction of its record (F6)',
    file: 'worker/function-step.ts',
    find: 'return await steps.record(call, output, { endsStream, rides: () => body.record() })',
    replace: 'body.record()\n    return await steps.record(call, output, { endsStream })',
  },
]
