// useJob — triggers a job, and follows the run that it triggered.
import type { ClientTriggerOptions, JobInput, JobName, JobOutput, Run } from '@coji/durably/client'
import { useCallback, useRef, useState } from 'react'
import { useDurably, useObservers } from './durably-provider.tsx'
import type { RegisteredJobs } from './register.ts'
import { useAttempt } from './use-attempt.ts'
import { useAutoResume } from './use-auto-resume.ts'
import { factsOf, present, STATE, type UseRunResult } from './use-run.ts'
import { useRunPart } from './use-run-part.ts'

/** The options of `useJob`. */
export interface UseJobOptions {
  /**
   * The run to follow at first, for example from the URL or from storage. Later changes are ignored; to follow an id that changes, use
   * `useRun`. Default: none.
   */
  initialRunId?: string | null
  /** True: follow a run of this job at first that is running or pending, if there is one. Default false. */
  autoResume?: boolean
}

/** What `useJob` returns: the state of the run that was triggered last, and functions. */
export interface UseJobResult<TInput, TOutput> extends UseRunResult<TOutput> {
  /** The id of the run that is followed; null if there is none. */
  runId: string | null
  /** True from the call of `trigger` until the run has ended. */
  isRunning: boolean
  /** Triggers a run of the job, and follows it from then on. */
  trigger(input: TInput, options?: ClientTriggerOptions): Promise<Run<TOutput>>
  /** Stops following the run; the run goes on. */
  reset(): void
}

/**
 * Triggers a job, and follows the run that it triggered.
 *
 * @example const { trigger, status, output } = useJob('greet')
 */
export function useJob<TName extends JobName<RegisteredJobs>>(
  jobName: TName,
  { initialRunId = null, autoResume = false }: UseJobOptions = {},
): UseJobResult<JobInput<RegisteredJobs, TName>, JobOutput<RegisteredJobs, TName>> {
  type Output = JobOutput<RegisteredJobs, TName>
  const client = useDurably()
  const observers = useObservers()
  const [runId, setRunId] = useState(initialRunId)
  const [isTriggering, setIsTriggering] = useState(false)
  const { error, attempt, forget } = useAttempt(runId)
  const state = useRunPart(runId, STATE)
  /** The trigger call whose run is to be followed. */
  const wanted = useRef<Promise<Run> | null>(null)
  const isUntouched = useRef(initialRunId === null)

  const follow = useCallback(
    (run: Run) => {
      observers.know(run)
      setRunId(run.id)
    },
    [observers],
  )
  const trigger = useCallback(
    (input: JobInput<RegisteredJobs, TName>, options?: ClientTriggerOptions) =>
      attempt(async () => {
        const sent = Promise.resolve().then(() => client.trigger(jobName, input, options))
        isUntouched.current = false
        wanted.current = sent
        setIsTriggering(true)
        try {
          const run = await sent
          if (wanted.current === sent) follow(run)
          return run
        } finally {
          if (wanted.current === sent) {
            wanted.current = null
            setIsTriggering(false)
          }
        }
      }),
    [client, jobName, attempt, follow],
  )

  const cancel = useCallback(() => {
    let id = runId
    const ask = async () => {
      // A run that is being triggered is cancelled as soon as it has an id.
      if (wanted.current) id = (await wanted.current).id
      return observers.cancel(present(id, 'cancel'))
    }
    return attempt(ask, () => id)
  }, [observers, runId, attempt])
  const retry = useCallback(
    () =>
      attempt(
        async () => (await observers.retry(present(runId, 'retry'))) as Run<Output>,
        () => runId,
      ),
    [observers, runId, attempt],
  )
  const reset = useCallback(() => {
    isUntouched.current = false
    wanted.current = null
    setIsTriggering(false)
    setRunId(null)
    forget()
  }, [forget])

  useAutoResume({ jobName, isOn: autoResume, isUntouched, attempt, follow })

  const facts = factsOf<Output>(state, error)
  return { ...facts, runId, isRunning: isTriggering || facts.isRunning, trigger, cancel, retry, reset }
}
