// Everything about one run: its view from the server, and its log. The log of a run that the page has not followed is read once.
import { useEffect, useState } from 'react'
import type { RunView } from '../../../src/wire/run.ts'
import { readRun } from '../api/api.ts'
import { applyEntry, EMPTY_LOG, type RunLog } from '../state/run-log.ts'
import { connect } from '../stream/connect.ts'

export interface RunDetails {
  view: RunView | null
  log: RunLog
  problem: string | null
}

export function useRunDetails(runId: string, followed: RunLog | null): RunDetails {
  const [view, setView] = useState<RunView | null>(null)
  const [read, setRead] = useState<RunLog>(EMPTY_LOG)
  const [problem, setProblem] = useState<string | null>(null)
  const isFollowed = followed !== null
  const isDone = followed?.done ?? null

  // biome-ignore lint/correctness/useExhaustiveDependencies: the view changes when the run ends
  useEffect(() => {
    readRun(runId).then(setView, (error: Error) => setProblem(error.message))
  }, [runId, isDone])

  useEffect(() => {
    if (isFollowed) return
    const controller = new AbortController()
    const { signal } = controller
    connect({ runId, after: 0, signal, onOpen() {}, onEntries: (entries) => setRead((log) => entries.reduce(applyEntry, log)) })
    return () => controller.abort()
  }, [runId, isFollowed])

  return { view, log: followed ?? read, problem }
}
