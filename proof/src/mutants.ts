// Mutants: guards of this engine, each taken out. The proof must find every one of them, or it proves nothing.
// Each is a patch of the source, applied when a build of its own is made; one that does not match exactly once is an error.

export interface Mutant {
  name: string
  /** What is taken out, in words. */
  guard: string
  file: string
  find: string
  replace: string
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
    file: 'worker/claim-run.ts',
    find: 'if (run.currentStepIndex === 0) return []',
    replace: 'if (run.currentStepIndex >= 0) return []',
  },
  {
    name: 'refusal-ignored',
    guard: 'a refused write ends the execution (R1)',
    file: 'worker/owner.ts',
    find: "this.lose('another worker owns the run')",
    replace: 'lease.renewed(sent)',
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
    file: 'worker/claim-run.ts',
    find: 'const claimed = (run: RunRow | null) => run && { run, lease }',
    replace: 'const claimed = (run: RunRow | null) => run && { run, lease: new LeaseAge(env) }',
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
    find: 'tables.move(record, move, columns, [{ type: eventOf(move), payload, createdAt: tables.nowIso }])',
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
    file: 'worker/job-context.ts',
    find: "if (recorded) return readStepColumn(recorded, 'output', codec) as T",
    replace: '',
  },
]
