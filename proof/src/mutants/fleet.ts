// Mutants without a guard of a fleet: silent owners that may come back, the register of workers, and the leader that chooses the worker of a run.
import type { Mutant } from './mutant.ts'

const ASSIGN = 'store/memory/assign.ts'
const FLEET = 'cluster/fleet.ts'

export const FLEET_MUTANTS: Mutant[] = [
  {
    name: 'silent-owner-robbed',
    guard: 'a run whose owner may come back is marked, and not taken',
    file: 'store/memory/reap.ts',
    find: '(!tokens && spared(row, tables.nowMs))',
    replace: '(tokens && spared(row, tables.nowMs))',
  },
  {
    name: 'marked-again',
    guard: 'a run is marked once, so that its owner has no more time than it was given',
    file: 'store/memory/reap.ts',
    find: 'if (continuationState !== null || leaseExpiresAt === null',
    replace: 'if (leaseExpiresAt === null',
  },
  {
    name: 'mark-stays',
    guard: 'an accepted write of the owner removes the mark',
    file: 'store/memory/tables.ts',
    find: 'row.leaseExpiresAt = this.nowMs + leaseMs\n    unmark(row)',
    replace: 'row.leaseExpiresAt = this.nowMs + leaseMs',
  },
  {
    name: 'confirm-not-stored',
    guard: 'a claim stores how long its owner may be silent',
    file: 'store/memory/claim.ts',
    find: 'row.confirmMs = confirmMs || null',
    replace: 'row.confirmMs = null',
  },
  {
    name: 'owner-holds-on',
    guard: 'an owner that the store does not answer gives up its run when its time is over (H2, O2)',
    file: 'worker/lease/heartbeat.ts',
    find: 'if (age >= holdMs) owner.loseToSilence()\n      else this.#beatIn(holdMs - age)',
    replace: 'this.#beatIn(holdMs)',
    also: [
      {
        file: 'worker/lease/owner.ts',
        find: 'else if (lease.ms() >= this.#holdMs) this.loseToSilence()',
        replace: 'else if (lease.ms() >= 100 * this.#holdMs) this.loseToSilence()',
      },
    ],
  },
  {
    name: 'owner-gives-up-early',
    guard: 'an owner with `confirmFor` holds its run for as long as it may (H2)',
    file: 'worker/lease/owner.ts',
    find: 'return this.#deps.leaseMs + this.#deps.confirmMs',
    replace: 'return this.#deps.leaseMs',
    also: [
      {
        file: 'worker/lease/heartbeat.ts',
        find: 'const holdMs = leaseMs + confirmMs\n    const owner = this.#owner\n    if',
        replace: 'const holdMs = leaseMs\n    const owner = this.#owner\n    if',
      },
      {
        file: 'worker/lease/heartbeat.ts',
        find: 'this.#lease.leftOf(leaseMs + confirmMs)',
        replace: 'this.#lease.leftOf(leaseMs)',
      },
    ],
  },
  {
    name: 'deposed-leader-assigns',
    guard: 'a run is assigned only by the process that leads (A3)',
    file: ASSIGN,
    find: 'if (tables.leader?.epoch !== epoch) return null\n  return assignments',
    replace: 'if ((tables.leader?.epoch ?? 0) < epoch) return null\n  return assignments',
  },
  {
    name: 'deposed-leader-orphans',
    guard: 'a run is taken from its worker only by the process that leads (A3)',
    file: ASSIGN,
    find: 'if (tables.leader?.epoch !== epoch) return null\n  const reassignAfterMs',
    replace: 'if ((tables.leader?.epoch ?? 0) < epoch) return null\n  const reassignAfterMs',
  },
  {
    name: 'assigned-after-a-change',
    guard: 'a run is assigned only while it has the version that the leader has read (A1)',
    file: ASSIGN,
    find: 'row.version !== version || row.assignedWorkerId',
    replace: 'row.assignedWorkerId',
  },
  {
    name: 'assigned-to-the-detached',
    guard: 'a run is assigned only to a worker that is attached (A2)',
    file: ASSIGN,
    find: "!worker || worker.state !== 'attached' ||",
    replace: '!worker ||',
  },
  {
    name: 'assigned-to-the-silent',
    guard: 'a run is assigned only to a worker that is not silent (A2)',
    file: ASSIGN,
    find: "worker.state !== 'attached' || worker.expiresAt <= tables.nowMs",
    replace: "worker.state !== 'attached'",
  },
  {
    name: 'assignment-not-counted',
    guard: 'each assignment of a run counts',
    file: ASSIGN,
    find: 'row.assignCount += 1',
    replace: 'row.assignCount = 1',
  },
  {
    name: 'living-worker-robbed',
    guard: 'a run is not taken from a worker that is there',
    file: ASSIGN,
    find: 'return isGone && ',
    replace: 'return ',
  },
  {
    name: 'orphaned-at-once',
    guard: 'a run is taken from its worker only some time after it was assigned',
    file: ASSIGN,
    find: 'return isGone && (assignedAt ?? 0) + reassignAfterMs <= tables.nowMs',
    replace: 'return isGone',
  },
  {
    name: 'starts-what-others-have',
    guard: 'a worker starts only what is assigned to it',
    file: ASSIGN,
    find: 'row.assignedWorkerId === workerId &&',
    replace: 'row.assignedWorkerId !== null &&',
  },
  {
    name: 'ends-in-another-epoch',
    guard: 'the end of a run needs the epoch of its claim',
    file: 'store/memory/apply.ts',
    find: 'return isHeld && (!endsRun(verb) || (row.leaderEpoch ?? 0) === (claim.leaderEpoch ?? 0))',
    replace: 'return isHeld',
  },
  {
    name: 'detached-starts-runs',
    guard: 'a worker that is detached starts nothing (F1)',
    file: FLEET,
    find: "if (this.#state === null || this.#state === 'detached') return []",
    replace: 'if (this.#state === null) return []',
  },
  {
    name: 'takes-the-unassigned',
    guard: 'a worker whose runs are chosen claims no other (F2)',
    file: FLEET,
    find: 'if (!this.dispatches && !isDraining)',
    replace: 'if (!isDraining)',
  },
  {
    name: 'preference-ignored',
    guard: 'a run that prefers a worker which is there is left to it (A4)',
    file: ASSIGN,
    find: 'if (isLeftToAnother(tables, row, request)) return false',
    replace: '',
  },
  {
    name: 'dead-worker-preferred',
    guard: 'a run does not wait for a worker that is silent or gone (A4)',
    file: ASSIGN,
    find: "return worker !== undefined && worker.state === 'attached' && worker.expiresAt > tables.nowMs",
    replace: 'return worker !== undefined || tables.workers.size > 0',
  },
  {
    name: 'preferred-for-ever',
    guard: 'a run waits for the worker that it prefers for a short time (A4)',
    file: ASSIGN,
    find: ' || runAt + preferMs <= tables.nowMs) return false',
    replace: ') return false',
  },
  {
    name: 'sql-preference-ignored',
    guard: 'SQL: a run that prefers a worker which is there is left to it, and is not overtaken (A4)',
    store: 'sqlite',
    file: 'store/sql/shared/assign.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: "prefer_worker_id <> ${p('workerId')}",
    replace: "prefer_worker_id = ''",
  },
  {
    name: 'sql-preferring-run-overtaken',
    guard: 'SQL: no run overtakes an earlier one of its key that is left to another worker (A4)',
    store: 'sqlite',
    file: 'store/sql/shared/assign.ts',
    find: 'AND (q.run_at, q.id) < (p.run_at, p.id)',
    replace: "AND q.id = ''",
  },
  {
    name: 'sql-dead-worker-preferred',
    guard: 'SQL: a run does not wait for a worker that is silent or gone (A4)',
    store: 'sqlite',
    file: 'store/sql/shared/assign.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: 'WHERE w.id = ${run}.prefer_worker_id AND ${isThere(now)}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: 'WHERE ${now} > 0',
  },
  {
    name: 'never-orphaned',
    guard: 'the leader takes runs from workers that are gone',
    file: FLEET,
    find: 'const orphaned = await this.#orphan(epoch)',
    replace: 'const orphaned: AssignedRun[] | null = []',
  },
  {
    name: 'entry-not-renewed',
    guard: 'a worker renews its entry before it ends (F1)',
    file: FLEET,
    find: 'this.#beatAt = env.mono() + BEAT_MS',
    replace: 'this.#beatAt = env.mono() + 1000 * BEAT_MS',
  },
  {
    name: 'sql-silent-owner-robbed',
    guard: 'SQL: a run whose owner may come back is marked, and not taken',
    store: 'sqlite',
    file: 'store/sql/shared/reap.ts',
    find: 'sql`r.continuation_state IS NULL AND r.lease_expires_at',
    replace: 'sql`false AND r.lease_expires_at',
  },
  {
    name: 'sql-mark-stays',
    guard: 'SQL: an accepted write of the owner removes the mark',
    store: 'sqlite',
    file: 'store/sql/shared/owner-moves.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: "heartbeat_at = ${p('at')}, ${noMark}`",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: "heartbeat_at = ${p('at')}`",
  },
  {
    name: 'sql-deposed-leader-assigns',
    guard: 'SQL: a run is assigned and taken away only by the process that leads (A3)',
    store: 'sqlite',
    file: 'store/sql/sqlite/assign.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: "WHERE name = 'leader' AND epoch = ${p('epoch')}",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: "WHERE name = 'leader' AND epoch >= ${p('epoch')}",
  },
  {
    name: 'sql-living-worker-robbed',
    guard: 'SQL: a run is not taken from a worker that is there',
    store: 'sqlite',
    file: 'store/sql/shared/assign.ts',
    find: "w.id = r.assigned_worker_id AND w.state <> 'detached'",
    replace: "w.id = '' AND w.state <> 'detached'",
  },
  {
    name: 'sql-starts-what-others-have',
    guard: 'SQL: a worker starts only what is assigned to it',
    store: 'sqlite',
    file: 'store/sql/sqlite/assign.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: "p.assigned_worker_id = ${p('workerId')} AND",
    replace: 'p.assigned_worker_id IS NOT NULL AND',
  },
  {
    name: 'sql-ends-in-another-epoch',
    guard: 'SQL: the end of a run needs the epoch of its claim',
    store: 'sqlite',
    file: 'store/sql/shared/owner-moves.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: " AND coalesce(r.leader_epoch, 0) = coalesce(${p('leaderEpoch')}, 0)",
    replace: '',
  },
]
