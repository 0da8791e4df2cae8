// What the user can do with runs of the open session.
import type { Approval } from '../../../src/wire/run.ts'
import { cancelRun, createSession, decideApproval, retryRun } from '../api/api.ts'
import { ApiError } from '../api/request.ts'
import { sendMessage } from '../api/send-message.ts'
import type { OpenChat } from './use-chat.ts'
import { openSession } from './use-session-id.ts'

export interface Actions {
  /** False if the message was not accepted. */
  send: (text: string) => Promise<boolean>
  stop: (runId: string) => Promise<void>
  retry: (runId: string) => Promise<void>
  /** What the run makes of it comes with its log. */
  decide: (runId: string, stepId: string, decision: Approval['decision']) => Promise<void>
}

interface ActionOptions {
  sessionId: string | null
  open: OpenChat
  onChanged: () => void
  onError: (message: string | null) => void
}

export function useActions({ sessionId, open, onChanged, onError }: ActionOptions): Actions {
  const fail = (error: unknown) => onError(error instanceof Error ? error.message : String(error))

  /** The first message begins the session. */
  const send = async (text: string) => {
    onError(null)
    try {
      const session = sessionId === null ? await createSession() : null
      const id = session?.session_id ?? sessionId ?? ''
      const { run_id: runId } = await sendMessage(id, text)
      if (session) open.dispatch({ type: 'opened', session, runs: [] })
      open.dispatch({ type: 'sent', runId, question: text, askedAt: new Date().toISOString() })
      if (session) openSession(id)
      onChanged()
      return true
    } catch (error) {
      fail(error)
      return false
    }
  }
  const stop = async (runId: string) => {
    try {
      const { status } = await cancelRun(runId)
      open.dispatch({ type: 'stop-accepted', runId, status })
    } catch (error) {
      // The run has ended meanwhile, and its log says so.
      if (!(error instanceof ApiError && error.code === 'already_ended')) fail(error)
    }
  }
  const retry = async (runId: string) => {
    await retryRun(runId).catch(fail)
    open.reload()
    onChanged()
  }
  const decide: Actions['decide'] = async (runId, stepId, decision) => {
    await decideApproval(runId, stepId, decision).catch((error: unknown) => {
      fail(error)
      throw error
    })
  }
  return { send, stop, retry, decide }
}
