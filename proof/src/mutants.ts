// Mutants: guards of this engine, each taken out. The proof must find every one of them, or it proves nothing.
// Each is a patch of the source, applied when a build of its own is made; one that does not match exactly once is an error.

import type { SimStore } from './sim-seeds.ts'

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
  /** The store whose worlds show it; memory unless given. */
  store?: SimStore
  /** Where to begin to look, if the first worlds that show it are far away; 0 unless given. */
  from?: number
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
    replace: 'this.#beatIn(heartbeatMs)',
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
    find: 'const reaped = await kit.store.runs.reap({ maxRecoveries: kit.maxRecoveries, ...which })',
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
    find: 'if (!this.#isOutOfTime) return this.#settled()',
    replace: 'if (!this.#isOutOfTime) return',
  },
  {
    name: 'late-claim-starts',
    guard: 'a lease is as old as its request, not its answer',
    file: 'worker/claim-runs.ts',
    find: 'lease: new LeaseAge(env, sent), answered',
    replace: 'lease: new LeaseAge(env, answered), answered',
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
    find: '(row) => Object.assign(row, columns), [{ type: eventOf(move), payload: {}, createdAt: tables.nowIso }])',
    replace: '(row) => Object.assign(row, columns), [])',
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
    find: 'return new Promise((resolve) => this.#nextTurns.push(resolve))',
    replace: 'return Promise.resolve()',
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
    find: 'for (const one of claimed) void executor.launch(one)',
    replace: 'for (const one of claimed.slice(0, 1)) void executor.launch(one)',
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
  {
    name: 'starts-early',
    guard: 'a run is not claimed before its `run_at`',
    file: 'store/memory/job-queue.ts',
    find: 'return first && first.runAt <= nowMs ? first : undefined',
    replace: 'return first',
  },
  {
    name: 'delay-ignored',
    guard: 'a delay counts from when the store has the run',
    file: 'store/memory/runs.ts',
    find: 'runAt: runAt ?? nowMs + (delayMs ?? 0)',
    replace: 'runAt: runAt ?? nowMs',
  },
  {
    name: 'signal-overwrites',
    guard: 'the first signal under a name wins',
    file: 'store/memory/signals.ts',
    find: "if (known) return known.id === signal.id ? 'accepted' : 'taken'",
    replace: `if (known) known.value = signal.value
      if (known) return 'accepted'`,
  },
  {
    name: 'signal-wakes-nobody',
    guard: 'a signal makes a run due that is parked for it',
    file: 'store/memory/signals.ts',
    find: 'tables.signalled(record, wakesBySignal(record.row, signal.name))',
    replace: 'tables.signalled(record, false)',
  },
  {
    name: 'signal-meets-park',
    guard: 'a run parks only if no signal came meanwhile (N3)',
    file: 'store/memory/owner-write.ts',
    find: 'return !isCancelled && row.signals <= signals',
    replace: 'return !isCancelled',
  },
  {
    name: 'cancel-meets-park',
    guard: 'a run parks only if no cancel came meanwhile',
    file: 'store/memory/owner-write.ts',
    find: 'return !isCancelled && row.signals <= signals',
    replace: 'return row.signals <= signals',
  },
  {
    name: 'time-beats-signal',
    guard: 'a signal that is there counts, also when its time is over',
    file: 'worker/signal-step.ts',
    find: 'const signal = await steps.signals.find(name)',
    replace: 'const signal = parking.isOver(name) ? undefined : await steps.signals.find(name)',
  },
  {
    name: 'sleep-begins-anew',
    guard: 'a sleep that was parked keeps its time (K2)',
    file: 'worker/sleep-step.ts',
    find: 'if (known) return { wait: known }',
    replace: '',
  },
  {
    name: 'sleep-cut-short',
    guard: 'a sleep is over when its time is',
    file: 'worker/sleep-step.ts',
    find: 'if (parking.isOver(name)) return steps.record(call, null)',
    replace: 'if (parking.get(name)) return steps.record(call, null)',
  },
  {
    name: 'retry-forgets-sleep',
    guard: 'what a job slept for stays true when the job is tried again',
    file: 'worker/parking.ts',
    find: 'return encodeWaits([...this.#waits.values()].flatMap(remainingOf))',
    replace: 'return encodeWaits([])',
  },
  {
    name: 'parks-in-flight',
    guard: 'a run parks when nothing is in flight (K1)',
    file: 'worker/parking.ts',
    find: '      await settled()\n',
    replace: '',
    also: [{ file: 'worker/parking.ts', find: 'while (!isQuiet())', replace: 'while (!isQuiet)' }],
  },
  {
    name: 'tried-too-soon',
    guard: 'a step that failed is tried again when its delay is over',
    file: 'worker/function-step.ts',
    find: 'if (wait) return { wait }',
    replace: '',
  },
  {
    name: 'tries-without-end',
    guard: 'a policy ends after so many attempts',
    file: 'model/retry-policy.ts',
    find: "return (attempt) => (attempt < maxAttempts ? delayMs : 'dead')",
    replace: "return (attempt) => (attempt < maxAttempts + 3 ? delayMs : 'dead')",
  },
  {
    name: 'tries-too-few',
    guard: 'a policy allows so many attempts',
    file: 'model/retry-policy.ts',
    find: "return (attempt) => (attempt < maxAttempts ? delayMs : 'dead')",
    replace: "return (attempt) => (attempt + 1 < maxAttempts ? delayMs : 'dead')",
  },
  {
    name: 'fatal-retried',
    guard: 'NonRetryableError ends it (P2)',
    file: 'model/retry-policy.ts',
    find: "if (isNonRetryable(error)) return 'dead'",
    replace: '',
  },
  {
    name: 'retried-at-once',
    guard: 'the next attempt comes after the delay of the policy',
    file: 'worker/execute-run.ts',
    find: 'runAt: Math.ceil(runAt),',
    replace: 'runAt: Math.ceil(execution.storeNow()),',
  },
  {
    name: 'attempt-not-counted',
    guard: 'an execution that failed counts as an attempt',
    file: 'store/memory/owner-write.ts',
    find: 'row.attempts += 1\n      row.waitingFor = verb.waitingFor',
    replace: 'row.waitingFor = verb.waitingFor',
  },
  {
    name: 'loss-is-an-attempt',
    guard: 'a lost worker is a recovery, not an attempt',
    file: 'store/memory/reap.ts',
    find: "return { move: 'reclaim', columns: { recoveries: row.recoveries + 1 }, payload: {} }",
    replace: "return { move: 'reclaim', columns: { recoveries: row.recoveries + 1, attempts: row.attempts + 1 }, payload: {} }",
  },
  {
    name: 'attempts-not-reset',
    guard: 'a retry by hand begins the count anew',
    file: 'store/memory/runs.ts',
    find: 'attempts: 0,\n    retryGeneration: row.leaseGeneration,',
    replace: 'retryGeneration: row.leaseGeneration,',
  },
  {
    name: 'tries-not-reset',
    guard: 'a retry by hand gives its steps new tries',
    file: 'store/memory/runs.ts',
    find: 'retryGeneration: row.leaseGeneration,',
    replace: '',
  },
  {
    name: 'deadline-reclaimed',
    guard: 'a lost run whose deadline is over fails',
    file: 'store/memory/reap.ts',
    find: "if (row.deadlineAt !== null && row.deadlineAt <= nowMs) return failed('reclaimTimedOut', 'timeout', DEADLINE_ERROR)",
    replace: '',
  },
  {
    name: 'deadline-not-watched',
    guard: 'an owner stops at the deadline',
    file: 'worker/time-limit.ts',
    find: 'if (deadlineAt !== null) stopAt(',
    replace: 'if (deadlineAt === 0) stopAt(',
  },
  {
    name: 'deadline-slept-over',
    guard: 'nobody parks beyond the deadline',
    file: 'worker/parking.ts',
    find: 'runAt: Math.min(run.deadlineAt ?? NEVER_MS, NEVER_MS, ...ahead)',
    replace: 'runAt: Math.min(NEVER_MS, ...ahead)',
  },
  {
    name: 'deadline-brought-forward',
    guard: 'a deadline counts from when the claim was answered, not from when it was sent',
    file: 'worker/execution.ts',
    find: 'return this.#claimedAt + this.#kit.env.mono() - this.#claimAnswered',
    replace: 'return this.#claimedAt + this.#kit.env.mono() - this.#claimSent',
  },
  {
    name: 'child-of-each-lease',
    guard: 'a child is found by its run and step, in every lease',
    file: 'worker/child-step.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: 'idempotencyKey: `${id}/${stepName}`',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: 'idempotencyKey: `${id}/${stepName}/${parts.execution.generation}`',
  },
  {
    name: 'child-blamed-on-job',
    guard: 'a store that is away is no failure of the step that triggers a child (R6)',
    file: 'worker/child-step.ts',
    find: "(await readForRun(parts, 'its child', () => job.trigger(input, options))).id",
    replace: '(await job.trigger(input, options)).id',
  },
  {
    name: 'child-not-awaited',
    guard: 'an invoke waits until its child has ended',
    file: 'worker/child-step.ts',
    find: 'if (!isTerminal(child.status)) return',
    replace: "if (child.status === 'pending') return",
  },
  {
    name: 'child-wakes-nobody',
    guard: 'the end of a child makes its parent due',
    file: 'store/memory/tables.ts',
    find: 'if (isTerminal(to)) this.#wakeParent(row)',
    replace: '',
  },
  {
    name: 'cancel-not-inherited',
    guard: 'a child whose parent was asked to stop does not start',
    file: 'store/memory/tables.ts',
    find: 'return cancelRequestedAt ?? (parentRunId === null ? null',
    replace: 'return cancelRequestedAt ?? (parentRunId !== undefined ? null',
  },
  {
    name: 'cancel-not-passed-on',
    guard: 'a cancel reaches the children that sleep',
    file: 'client/run-commands.ts',
    find: 'for (const child of await runs.activeChildren(id)) await this.cancel(child)',
    replace: 'await runs.activeChildren(id)',
  },
  {
    name: 'effect-not-noted',
    guard: 'the start of an effect is stored before its function is called (E1)',
    file: 'worker/effect-step.ts',
    find: "if (!(await execution.owner.write({ type: 'heartbeat' }, () => execution.effects.add(name)))) execution.goOn()",
    replace: 'execution.effects.add(name)',
  },
  {
    name: 'effect-asks-nobody',
    guard: 'who finds a start without a record asks (E2)',
    file: 'worker/effect-step.ts',
    find: "if (effect !== 'once' || startedIn === undefined) return null",
    replace: "if (effect !== 'once' || startedIn !== -1) return null",
  },
  {
    name: 'decided-once-for-all',
    guard: 'a decision is about one start',
    file: 'model/effect.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: 'return `${DECISION_PREFIX}${generation}/${stepName}`',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: 'return `${DECISION_PREFIX}${generation && 0}/${stepName}`',
  },
  {
    name: 'late-means-failed',
    guard: 'an effect that ran out of time may have taken place',
    file: 'worker/step-runner.ts',
    find: "void (hasCode(error, 'timeout') || execution.effects.delete(call.name))",
    replace: 'void execution.effects.delete(call.name)',
  },
  {
    name: 'transaction-unfenced',
    guard: 'a transaction commits only if its step is accepted (W1)',
    store: 'sqlite',
    file: 'store/sql/transact.ts',
    find: 'if (!accepted) throw new Refused()',
    replace: 'if (!accepted) return { ok: false }',
  },
  {
    name: 'transaction-believed',
    guard: 'after an unknown outcome the step of a transaction is looked for',
    store: 'sqlite',
    file: 'worker/owner.ts',
    find: "if (write && (await this.#isThere(write))) return 'recorded'",
    replace: "if (write) return 'recorded'",
  },
  {
    name: 'transaction-split',
    guard: 'the rows of a transaction and its step commit together',
    store: 'sqlite',
    file: 'store/sql/transact.ts',
    find: 'trx.seal()',
    replace: `trx.seal()
        await trx.run({ sql: 'commit', parameters: [], query: { kind: 'RawNode', sqlFragments: ['commit'], parameters: [] } } as never)
        await trx.run({ sql: 'begin immediate', parameters: [], query: { kind: 'RawNode', sqlFragments: ['begin'], parameters: [] } } as never)`,
  },
  {
    name: 'purged-too-soon',
    guard: 'only what ended long enough ago is purged',
    file: 'store/memory/runs.ts',
    find: 'endOf(row) > end || old.length === limit',
    replace: 'old.length === limit',
  },
  {
    name: 'awaited-child-purged',
    guard: 'an ended child is kept until its parent has ended',
    file: 'store/memory/runs.ts',
    find: '(!jobNames || jobNames.includes(row.jobName)) && !tables.isAwaited(row)',
    replace: '!jobNames || jobNames.includes(row.jobName)',
  },
  {
    name: 'follower-claims',
    guard: 'only who leads claims (K4)',
    file: 'worker/worker.ts',
    find: 'if (!this.#lead.isHeld) {',
    replace: 'if (this.#inHand.size < 0) {',
  },
  {
    name: 'heir-waits',
    guard: 'who inherits the lead takes back what is left running (E2)',
    file: 'worker/lead.ts',
    find: 'if (!this.#term?.inherits || this.#hasInherited) return',
    replace: 'if (this.#users >= 0) return',
  },
  {
    name: 'inherits-from-itself',
    guard: 'what a term inherits is taken back once, before its first claim',
    file: 'worker/lead.ts',
    find: 'this.#hasInherited = true',
    replace: 'this.#hasInherited = false',
  },
  {
    name: 'thief-inherits',
    guard: 'who stole the lead waits for leases (E2)',
    file: 'store/leader-lock.ts',
    find: 'this.#request({ steal: true }, false)',
    replace: 'this.#request({ steal: true }, true)',
  },
  {
    name: 'sleeper-inherits',
    guard: 'who stood still since it got the lead does not inherit (B3)',
    file: 'store/leader-lock.ts',
    from: 790,
    find: 'return this.#inherits && this.#parts.env.mono() < this.#safeUntil',
    replace: 'return this.#inherits',
  },
  {
    name: 'lead-kept-on-stop',
    guard: 'who has stopped gives the lead back',
    file: 'worker/lead.ts',
    find: 'if (--this.#users > 0) return',
    replace: 'if (--this.#users >= 0) return',
  },
  {
    name: 'leader-is-silent',
    guard: 'a leader says that it lives (B1)',
    file: 'store/leader-lock.ts',
    find: 'channel.postMessage(ALIVE)',
    replace: "channel.postMessage('')",
  },
  {
    name: 'frozen-leader-stays',
    guard: 'a leader that stands still is robbed of the lead (B2)',
    file: 'store/leader-lock.ts',
    from: 90,
    find: 'if (env.mono() - this.#heardAt > 2 * leaseMs) return',
    replace: 'if (env.mono() - this.#heardAt > 200 * leaseMs) return',
  },
  {
    name: 'sleeper-robs',
    guard: 'who stood still itself robs nobody (B2)',
    file: 'store/leader-lock.ts',
    from: 140,
    find: 'if (wasAsleep || !canWork) this.#heardAt = env.mono()',
    replace: 'if (!canWork) this.#heardAt = env.mono()',
  },
  {
    name: 'sql-starts-early',
    guard: 'SQL: a run is not claimed before its `run_at`',
    store: 'sqlite',
    file: 'store/sql/runs/claim.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: "AND p.job_name = job.value AND p.run_at <= ${p('now')}",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: "AND p.job_name = job.value AND p.run_at <= ${p('now')} + 60000",
  },
  {
    name: 'sql-signal-meets-park',
    guard: 'SQL: a run parks only if no signal came meanwhile (N3)',
    store: 'sqlite',
    file: 'store/sql/runs/owner-moves.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: "IS NULL AND r.signals <= coalesce(${p('signals')}, r.signals) THEN",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: "IS NULL AND coalesce(${p('signals')}, 0) >= 0 THEN",
  },
  {
    name: 'sql-child-wakes-nobody',
    guard: 'SQL: the end of a child makes its parent due',
    store: 'sqlite',
    file: 'store/sql/runs/owner-moves.ts',
    find: `r.waiting_for LIKE '%"kind":"child"%' THEN`,
    replace: `r.waiting_for LIKE '%"kind":"nobody"%' THEN`,
  },
  {
    name: 'sql-deadline-reclaimed',
    guard: 'SQL: a lost run whose deadline is over fails',
    store: 'sqlite',
    file: 'store/sql/runs/reap.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: 'WHEN r.deadline_at <= ${now} THEN ${timedOut}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: 'WHEN r.deadline_at < 0 THEN ${timedOut}',
  },
  {
    name: 'sql-awaited-child-purged',
    guard: 'SQL: an ended child is kept until its parent has ended',
    store: 'sqlite',
    file: 'store/sql/runs/purge.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: 'WHERE ${isOver(p)} AND NOT ${isAwaited(t)}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: 'WHERE ${isOver(p)}',
  },
]
