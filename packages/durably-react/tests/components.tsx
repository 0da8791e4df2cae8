// The components of the tests. They show in words what the hooks tell them.
import { Component, type ReactNode, useEffect } from 'react'
import { useDurably, useJob, useRun, useRunLogs, useRunStream, useRuns } from '../src/index.ts'

export function RunPanel({ runId }: { runId: string | null }) {
  const { status, phase, run, progress, output, error, isRunning, cancel, retry } = useRun(runId)
  return (
    <section>
      <h1>{`${status} ${phase} ${isRunning ? 'busy' : 'at rest'}`}</h1>
      <p>{`step ${run?.currentStepIndex}, ${progress?.current} of ${progress?.total}, output ${output}`}</p>
      <p role="alert">{error?.message}</p>
      <button type="button" onClick={() => cancel().catch(() => {})}>
        Stop
      </button>
      <button type="button" onClick={() => retry().catch(() => {})}>
        Retry
      </button>
    </section>
  )
}

/** `onRender` gets each text that was rendered, also those that nobody had the time to see. */
export function Answer({ runId, onRender = () => {} }: { runId: string | null; onRender?: (text: string) => void }) {
  const { text, isDone } = useRunStream(runId, 'answer')
  const words = `${text}${isDone ? '.' : '…'}`
  onRender(words)
  return <blockquote>{words}</blockquote>
}

export function Connection({ runId }: { runId: string | null }) {
  return <p role="status">{useRun(runId).connection}</p>
}

/** `onRender` gets the number of lines. */
export function Lines({ runId, onRender = () => {} }: { runId: string | null; onRender?: (count: number) => void }) {
  const { logs } = useRunLogs(runId)
  onRender(logs.length)
  return logs.map(({ sequence, level, message }) => <li key={sequence}>{`${level}: ${message}`}</li>)
}

export function RunList() {
  const { runs, hasMore, loadMore } = useRuns({ jobName: 'work', limit: 2 })
  return (
    <>
      {runs.map((run) => (
        <li key={run.id}>{`${run.id} ${run.status}`}</li>
      ))}
      <button type="button" disabled={!hasMore} onClick={() => loadMore()}>
        More
      </button>
    </>
  )
}

export function Greeting({ onReject = () => {} }: { onReject?: (error: unknown) => void }) {
  const { trigger, status, output, error, isRunning, reset } = useJob('greet')
  const greet = (name: unknown) => trigger({ name: name as string }).catch(onReject)
  return (
    <section>
      <h1>{`${status} ${isRunning}`}</h1>
      <p>{output ? `${output.text} ${output.at.toISOString()}` : 'nothing yet'}</p>
      <p role="alert">{error && 'code' in error ? String(error.code) : ''}</p>
      <button type="button" onClick={() => greet('Ada')}>
        Greet
      </button>
      <button type="button" onClick={() => greet(7)}>
        Greet a number
      </button>
      <button type="button" onClick={reset}>
        Forget
      </button>
    </section>
  )
}

export function GreetsByItself() {
  const { trigger, status } = useJob('greet')
  useEffect(() => void trigger({ name: 'Ada' }), [trigger])
  return <h1>{status}</h1>
}

/** Its user is quicker than the network. */
export function Nervous() {
  const { runId, trigger, cancel, status, isRunning, error } = useJob('work')
  const startAndStop = () => {
    void trigger({ steps: 1 })
    cancel().catch(() => {})
  }
  return (
    <>
      <h1>{`${status} ${isRunning}`}</h1>
      <p role="alert">{error && `${runId}: ${error.message}`}</p>
      <button type="button" onClick={startAndStop}>
        Start and stop
      </button>
    </>
  )
}

export function Resumed({ name, initialRunId = null }: { name: string; initialRunId?: string | null }) {
  const { runId, status } = useJob('talk', { initialRunId, autoResume: true })
  return <p>{`${name} ${runId} ${status}`}</p>
}

export function AsksClient() {
  useDurably()
  return null
}

export class ErrorBoundary extends Component<{ children: ReactNode }, { message: string }> {
  override state = { message: '' }
  static getDerivedStateFromError = (error: Error) => ({ message: error.message })
  override render = () => this.state.message || this.props.children
}
