// The open session: reads it, follows its runs one after the other, and sends what the user wants.
import { useCallback, useEffect, useReducer, useState } from 'react'
import { listRuns, readSession } from '../api/api.ts'
import { ApiError } from '../api/request.ts'
import { type Chat, type ChatAction, chatReducer } from '../state/chat.ts'
import { isActive } from '../state/phase.ts'
import { followRun } from '../stream/follow-run.ts'
import { onChangeElsewhere, tellOtherTabs } from './other-tabs.ts'

export interface OpenChat {
  /** Null while nothing is open, or it is being read. */
  chat: Chat | null
  dispatch: (action: ChatAction) => void
  problem: string | null
  isReconnecting: boolean
  reload: () => void
}

export function useChat(sessionId: string | null, onChanged: () => void): OpenChat {
  const [chat, dispatch] = useReducer(chatReducer, null)
  const [problem, setProblem] = useState<string | null>(null)
  const [asked, setAsked] = useState(0)
  const reload = useCallback(() => setAsked((n) => n + 1), [])
  const open = chat?.sessionId === sessionId ? chat : null

  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` counts the wishes for a fresh answer
  useEffect(() => {
    if (sessionId === null) return setProblem(null)
    let isOld = false
    Promise.all([readSession(sessionId), listRuns(sessionId)]).then(
      ([session, { runs }]) => {
        if (isOld) return
        setProblem(null)
        dispatch({ type: 'opened', session, runs })
      },
      (error: Error) => {
        if (isOld) return
        const isGone = error instanceof ApiError && error.code === 'not_found'
        setProblem(isGone ? 'This session does not exist, or was deleted.' : error.message)
      },
    )
    return () => {
      isOld = true
    }
  }, [sessionId, asked])

  useEffect(() => onChangeElsewhere(reload), [reload])
  const isReconnecting = useFollowing(open, dispatch, reload, onChanged)
  return { chat: open, dispatch, problem, isReconnecting, reload }
}

/** One run at a time: those behind it in the session begin after it. */
function useFollowing(chat: Chat | null, dispatch: (action: ChatAction) => void, reload: () => void, onChanged: () => void): boolean {
  const [isReconnecting, setReconnecting] = useState(false)
  const run = chat?.live.find(isActive)
  const runId = run?.runId
  // biome-ignore lint/correctness/useExhaustiveDependencies: the cursor is where this connection begins, and moves with it
  useEffect(() => {
    if (runId === undefined) return
    const controller = new AbortController()
    followRun({
      runId,
      after: run?.log.lastSeq ?? 0,
      signal: controller.signal,
      onEntries: (entries) => dispatch({ type: 'entries', runId, entries }),
      onConnection: (isOpen) => setReconnecting(!isOpen),
      onOtherLog: () => dispatch({ type: 'restarted', runId }),
    }).then((end) => {
      if (end === 'aborted') return
      onChanged()
      tellOtherTabs()
      if (end === 'unknown') reload()
    })
    return () => {
      controller.abort()
      setReconnecting(false)
    }
  }, [runId])
  return isReconnecting
}
