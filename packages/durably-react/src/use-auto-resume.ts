import type { DurablyClient, Run } from '@coji/durably/client'
import { type RefObject, useEffect } from 'react'
import { useDurably } from './durably-provider.tsx'
import type { Attempts } from './use-attempt.ts'

interface AutoResumeOptions {
  jobName: string
  isOn: boolean
  /** Nothing was triggered or reset yet. */
  isUntouched: RefObject<boolean>
  attempt: Attempts['attempt']
  follow: (run: Run) => void
}

/** Follows a run of the job that is running or pending, if there is one. */
export function useAutoResume({ jobName, isOn, isUntouched, attempt, follow }: AutoResumeOptions): void {
  const client = useDurably() as unknown as DurablyClient
  useEffect(() => {
    if (!isOn || !isUntouched.current) return
    let isLeft = false
    attempt(() => activeRun(client, jobName)).then(
      (run) => {
        if (run && !isLeft && isUntouched.current) follow(run)
      },
      () => {},
    )
    return () => {
      isLeft = true
    }
  }, [client, jobName, isOn, isUntouched, attempt, follow])
}

async function activeRun(client: DurablyClient, jobName: string): Promise<Run | undefined> {
  const [running] = await client.getRuns({ jobName, status: 'running', limit: 1 })
  if (running) return running
  const [pending] = await client.getRuns({ jobName, status: 'pending', limit: 1 })
  return pending
}
