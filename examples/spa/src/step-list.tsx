// The recorded steps, the last one first. A reload does not repeat them.
import type { Run, Step } from '@coji/durably'
import { useDurably } from '@coji/durably-react'
import { useEffect, useState } from 'react'

export function StepList({ run }: { run: Run }) {
  const steps = useSteps(run)
  return (
    <section>
      <h3>
        Steps <span className="count">{steps.length}</span>
      </h3>
      <ol aria-label="Steps" className="lines">
        {steps.toReversed().map((step) => (
          <li key={step.id} className={step.status}>
            <span>{step.name}</span>
            <span className="quiet">{durationOf(step)}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

function useSteps({ id, status, currentStepIndex }: Run): Step[] {
  const client = useDurably()
  const [steps, setSteps] = useState<Step[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the steps change when the run does
  useEffect(() => {
    let isLeft = false
    client.getSteps(id).then((steps) => isLeft || setSteps(steps), console.error)
    return () => {
      isLeft = true
    }
  }, [client, id, status, currentStepIndex])
  return steps
}

function durationOf({ startedAt, completedAt }: Step): string {
  return completedAt ? `${Date.parse(completedAt) - Date.parse(startedAt)} ms` : ''
}
