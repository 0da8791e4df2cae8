// Asks whether a tool may do what the model wants, with all that it wants in view.
import { useId, useState } from 'react'
import type { Approval } from '../../../src/wire/run.ts'
import type { ToolApproval } from '../state/run-log.ts'
import { Arguments } from './tool-card.tsx'
import { shortTime } from './words.ts'

interface ApprovalCardProps {
  tool: string
  args: unknown
  approval: ToolApproval
  onDecide: (stepId: string, decision: Approval['decision']) => Promise<void>
}

export function ApprovalCard({ tool, args, approval, onDecide }: ApprovalCardProps) {
  const title = useId()
  const [sent, setSent] = useState<Approval['decision'] | null>(null)
  if (approval.isApproved !== null) return null
  const decide = (decision: Approval['decision']) => {
    setSent(decision)
    // The page says why it was refused; somebody else may have decided, which the log will tell.
    onDecide(approval.stepId, decision).catch(() => setSent(null))
  }
  return (
    <section className="card approval" aria-labelledby={title}>
      <h3 id={title}>
        May the model use <span className="name">{tool}</span>?
      </h3>
      <Arguments tool={tool} args={args} />
      {typeof args === 'string' && <p className="hint">These arguments are too long to be shown whole.</p>}
      <p className="hint">Without a decision by {shortTime(approval.expiresAt)} it counts as denied.</p>
      <div className="choices">
        <button type="button" className="button" disabled={sent !== null} onClick={() => decide('approve')}>
          {sent === 'approve' ? 'Approving…' : 'Approve'}
        </button>
        <button type="button" className="quiet-button" disabled={sent !== null} onClick={() => decide('deny')}>
          {sent === 'deny' ? 'Denying…' : 'Deny'}
        </button>
      </div>
    </section>
  )
}
