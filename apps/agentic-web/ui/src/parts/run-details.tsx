// What happened in a run: its attempts and their workers, its steps with their durations, its tokens.
import { useRunDetails } from '../hooks/use-run-details.ts'
import type { Attempt, RunLog, Step } from '../state/run-log.ts'
import { Dialog } from './dialog.tsx'
import { clockTime, count, duration } from './words.ts'

interface RunDetailsDialogProps {
  runId: string
  log: RunLog | null
  onClose: () => void
}

export function RunDetailsDialog({ runId, log: followed, onClose }: RunDetailsDialogProps) {
  const { view, log, problem } = useRunDetails(runId, followed)
  const model = log.model ?? view?.model
  const usage = log.steps.reduce(
    (sum, { usage }) => ({ in: sum.in + (usage?.input_tokens ?? 0), out: sum.out + (usage?.output_tokens ?? 0) }),
    { in: 0, out: 0 },
  )
  return (
    <Dialog title="Run details" onClose={onClose}>
      {problem && <p className="banner bad">{problem}</p>}
      <dl className="facts">
        <Fact name="Run">{runId}</Fact>
        <Fact name="Status">{log.done ?? view?.status ?? '…'}</Fact>
        <Fact name="Model">
          {model ? `${model.model}${model.is_demo ? ' (scripted, not an AI)' : `, ${model.provider}`}` : 'not chosen yet'}
        </Fact>
        <Fact name="Tokens">{usage.in + usage.out > 0 ? `${usage.in} in, ${usage.out} out` : 'not counted'}</Fact>
        <Fact name="Time">{wholeTime(log)}</Fact>
        {log.error && <Fact name="Error">{`${log.error.code}: ${log.error.message}`}</Fact>}
      </dl>
      <h3>{count(log.attempts.length, 'attempt')}</h3>
      <ol className="rows">
        {log.attempts.map((attempt) => (
          <li key={attempt.startedAt}>
            <span>{attempt.workerId ?? 'a worker'}</span>
            <span className="hint">
              {clockTime(attempt.startedAt)}, {endOf(attempt, log)}
            </span>
          </li>
        ))}
      </ol>
      <h3>{count(log.steps.length, 'step')}</h3>
      <ol className="rows">
        {log.steps.map((step) => (
          <li key={step.id}>
            <span>{titleOf(step, log.steps)}</span>
            <span className="hint">{factsOf(step)}</span>
          </li>
        ))}
      </ol>
    </Dialog>
  )
}

function Fact({ name, children }: { name: string; children: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function wholeTime({ attempts: [first], endedAt }: RunLog): string {
  if (!first) return 'not begun'
  return endedAt ? duration(Date.parse(endedAt) - Date.parse(first.startedAt)) : `since ${clockTime(first.startedAt)}`
}

function endOf({ end }: Attempt, { done }: RunLog): string {
  switch (end?.reason) {
    case 'worker_lost':
      return `lost at ${clockTime(end.at)}`
    case 'worker_stopped':
      return `shut down at ${clockTime(end.at)}`
    case 'waits':
      return 'then waited'
    case undefined:
      return done ?? 'works on it'
  }
}

/** A tool is named in the answer of the model that asked for it. */
function titleOf({ id, kind, number }: Step, steps: readonly Step[]): string {
  if (kind === 'model') return `Model call ${number}`
  const call = steps.flatMap(({ output }) => output).find((part) => part.type === 'tool_call' && part.toolStepId === id)
  return call?.type === 'tool_call' ? `Tool ${call.tool}` : 'Tool'
}

function factsOf({ durationMs, usage, failure }: Step): string {
  if (failure !== null) return `failed, tried again: ${failure}`
  const time = durationMs === null ? 'not finished' : duration(durationMs)
  return usage ? `${time}, ${usage.input_tokens} + ${usage.output_tokens} tokens` : time
}
