// Mutants without a guard in how runs are claimed, executed, limited in time, retried and ended.
import type { Mutant } from './mutant.ts'

export const EXECUTION_MUTANTS: Mutant[] = [
  {
    name: 'no-reap',
    guard: 'the leases of lost runs are reaped',
    file: 'worker/loop/reap.ts',
    find: 'const reaped = await deps.store.runs.reap({ maxRecoveries: deps.maxRecoveries, ...which })',
    replace: 'const reaped: Reaped[] = []',
  },
  {
    name: 'steps-not-read',
    guard: 'completed steps are read after the claim (R4)',
    file: 'worker/execute-run.ts',
    find: 'if (claim.generation === 1) return []',
    replace: 'if (claim.generation >= 1) return []',
  },
  {
    name: 'poison-ignored',
    guard: 'an execution whose signal was aborted starts nothing more (X1)',
    file: 'worker/execution.ts',
    find: 'if (!this.interrupted) return',
    replace: 'if (this.run) return',
  },
  {
    name: 'siblings-abandoned',
    guard: 'nothing ends while a step is in flight (X2)',
    file: 'worker/execution.ts',
    find: 'if (!this.isLeaving) return this.#inFlight.settled()',
    replace: 'if (!this.isLeaving) return',
  },
  {
    name: 'time-asked-apart',
    guard: 'all steps that ask for the time get the same answer, so none is left behind when its job fails',
    file: 'worker/lease/run-clock.ts',
    find: 'this.#asking ??= ',
    replace: 'this.#asking = ',
  },
  {
    name: 'siblings-left-at-once',
    guard: 'the steps of a job that threw have time to stop (X2)',
    file: 'worker/execution.ts',
    find: 'const IGNORED_ABORT_MS = 500',
    replace: 'const IGNORED_ABORT_MS = 0',
  },
  {
    name: 'late-claim-starts',
    guard: 'a lease counts from the request of its claim, not from the answer',
    file: 'worker/loop/claim-runs.ts',
    find: 'lease: new LeaseAge(env, sent),',
    replace: 'lease: new LeaseAge(env, answered),',
  },
  {
    name: 'steps-read-early',
    guard: 'completed steps are read after the claim, not before it (R4)',
    file: 'worker/loop/claim-runs.ts',
    find: 'return claimed(await deps.claim({ jobNames: deps.jobNames(), tokens, leaseMs, confirmMs, workerId }))',
    replace: `const runs = await deps.claim({ jobNames: deps.jobNames(), tokens, leaseMs, confirmMs, workerId })
    store.stale = store.early
    store.early = new Map()
    for (const { id } of await store.runs.list({})) store.early.set(id, await store.steps.list(id))
    return claimed(runs)`,
    also: [
      {
        file: 'worker/execute-run.ts',
        find: 'return allOf(pagesOf(read))',
        replace: 'return deps.store.stale?.get(claim.runId) ?? allOf(pagesOf(read))',
      },
    ],
  },
  {
    name: 'adopts-only-one',
    guard: 'after a claim with an unknown outcome all of its tokens are looked up (R4)',
    file: 'worker/loop/claim-runs.ts',
    find: 'store.runs.adopt(tokens)',
    replace: 'store.runs.adopt(tokens.slice(0, 1))',
  },
  {
    name: 'starts-only-one',
    guard: 'every run that was claimed is started',
    file: 'worker/loop/worker.ts',
    find: 'for (const one of claimed) void this.#executor.launch(one)',
    replace: 'for (const one of claimed.slice(0, 1)) void this.#executor.launch(one)',
  },
  {
    name: 'tries-without-end',
    guard: 'a retry policy allows no more attempts than its maximum',
    file: 'model/retry-policy.ts',
    find: "return (attempt) => (attempt < maxAttempts ? delayMs : 'dead')",
    replace: "return (attempt) => (attempt < maxAttempts + 3 ? delayMs : 'dead')",
  },
  {
    name: 'tries-too-few',
    guard: 'a retry policy allows as many attempts as its maximum',
    file: 'model/retry-policy.ts',
    find: "return (attempt) => (attempt < maxAttempts ? delayMs : 'dead')",
    replace: "return (attempt) => (attempt + 1 < maxAttempts ? delayMs : 'dead')",
  },
  {
    name: 'fatal-retried',
    guard: 'a NonRetryableError is not tried again (P2)',
    file: 'model/retry-policy.ts',
    find: "if (isNonRetryable(error)) return 'dead'",
    replace: '',
  },
  {
    name: 'retry-after-ignored',
    guard: 'an error can set the delay before the next try (P2)',
    file: 'model/retry-policy.ts',
    find: 'Math.ceil(delays.get(error as object) ?? chosen)',
    replace: 'Math.ceil(chosen)',
  },
  {
    name: 'spoiled-output-is-final',
    guard: 'a job whose output cannot be stored has failed, and may try again',
    file: 'worker/execute-run.ts',
    find: '(job.name)}`) }\n  } catch (error) {\n    return failureOrRetry(deps, execution, job, error)',
    replace: "(job.name)}`) }\n  } catch (error) {\n    return failure(deps, error, '')",
  },
  {
    name: 'retried-at-once',
    guard: 'the next attempt comes after the delay of the policy',
    file: 'worker/execute-run.ts',
    find: 'runAt: Math.ceil(runAt),',
    replace: 'runAt: Math.ceil(execution.clock.time.latest()),',
  },
  {
    name: 'deadline-not-watched',
    guard: 'an owner stops at the deadline',
    file: 'worker/time-limit.ts',
    find: 'this.#deadlineAt = execution.run.deadlineAt ?? Number.POSITIVE_INFINITY',
    replace: 'this.#deadlineAt = (execution.run.deadlineAt ?? Number.POSITIVE_INFINITY) + 20_000',
  },
  {
    name: 'sleep-not-slept',
    guard: 'a duration from now counts from the time of the store when the clocks of the process differ (T1)',
    file: 'worker/lease/run-clock.ts',
    find: 'while (!this.time.isKnown && !this.#owner.lost) await this.askForTime()\n    return this.time.latest()',
    replace: 'return this.time.earliest()',
  },
  {
    name: 'decided-once-for-all',
    guard: 'a decision about an effect holds for one start of it',
    file: 'model/decision-name.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    find: 'return `${DECISION_PREFIX}${generation}/${stepName}`',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    replace: 'return `${DECISION_PREFIX}${generation && 0}/${stepName}`',
  },
  {
    name: 'explains-another-signal',
    guard: 'an explanation names the signal that its run waits for',
    file: 'runs/explain/diagnose.ts',
    find: "{ do: 'signal', runId: id, name: first.name }",
    replace: "{ do: 'signal', runId: id, name: id }",
  },
  {
    name: 'follower-claims',
    guard: 'only the leader claims runs (K4)',
    file: 'worker/loop/worker.ts',
    find: 'if (!this.#leadership.isHeld) {',
    replace: 'if (this.#active.size < 0) {',
  },
  {
    name: 'new-leader-does-not-reap',
    guard: 'a leader that did not steal the lead reaps what the former leader left running (E2)',
    file: 'worker/loop/leadership-holder.ts',
    find: 'if (!term || this.#hasInherited) return',
    replace: 'if (this.#users >= 0) return',
  },
  {
    name: 'leader-reaps-itself',
    guard: 'a new leader reaps what is left running once, before its first claim',
    file: 'worker/loop/leadership-holder.ts',
    find: 'this.#hasInherited = true',
    replace: 'this.#hasInherited = false',
  },
  {
    name: 'lead-kept-on-stop',
    guard: 'a worker that has stopped releases the lead',
    file: 'worker/loop/leadership-holder.ts',
    find: 'if (--this.#users > 0) return',
    replace: 'if (--this.#users >= 0) return',
  },
]
