// A message and its answer.
import { memo } from 'react'
import type { Approval } from '../../../src/wire/run.ts'
import type { Phase } from '../state/phase.ts'
import type { ShownTurn } from '../state/shown-turn.ts'
import type { Block } from '../state/turn.ts'
import { ApprovalCard } from './approval-card.tsx'
import { inOrder } from './in-order.ts'
import { Markdown } from './markdown.tsx'
import { ToolCard } from './tool-card.tsx'
import { clockTime, shortTime } from './words.ts'

export interface TurnActions {
  onStop: (runId: string) => void
  onRetry: (runId: string) => void
  onDecide: (runId: string, stepId: string, decision: Approval['decision']) => Promise<void>
  onDetails: (turn: ShownTurn) => void
}

interface TurnViewProps extends TurnActions {
  turn: ShownTurn
  isFirstActive: boolean
}

export const TurnView = memo(function TurnView({ turn, isFirstActive, ...actions }: TurnViewProps) {
  const { runId, question, askedAt, blocks, phase, model } = turn
  const isEmpty = blocks.length === 0 && phase === 'queued' && !isFirstActive
  return (
    <li className="turn">
      <article className="bubble mine" aria-label="Your message">
        <p className="plain">{question}</p>
        <time dateTime={askedAt}>{shortTime(askedAt)}</time>
      </article>
      <article className="bubble answer" aria-label="Answer">
        {!isEmpty && (
          <header className="author">
            {model?.is_demo ? 'Demo model' : 'Agent'}
            {model?.is_demo && <span className="tag">scripted, not an AI</span>}
          </header>
        )}
        {inOrder(blocks, (block, i) => (
          <BlockView
            block={block}
            isActive={isWorking(phase)}
            isLast={i === blocks.length - 1}
            onDecide={(stepId, decision) => actions.onDecide(runId, stepId, decision)}
          />
        ))}
        <State turn={turn} isFirstActive={isFirstActive} />
        <Footer turn={turn} {...actions} isFirstActive={isFirstActive} />
      </article>
    </li>
  )
})

function isWorking(phase: Phase): boolean {
  return phase === 'working' || phase === 'approval' || phase === 'restarting' || phase === 'paused' || phase === 'stopping'
}

interface BlockViewProps {
  block: Block
  isActive: boolean
  isLast: boolean
  onDecide: (stepId: string, decision: Approval['decision']) => Promise<void>
}

function BlockView({ block, isActive, isLast, onDecide }: BlockViewProps) {
  switch (block.type) {
    case 'text':
      return <Markdown text={block.text} />
    case 'reasoning':
      return (
        <details className="card reasoning">
          <summary>
            <span className="name">Reasoning</span>
            <span className="line">{isActive && isLast ? 'thinking…' : block.text.slice(0, 120)}</span>
          </summary>
          <p className="plain inside">{block.text}</p>
        </details>
      )
    case 'tool':
      return (
        <>
          <ToolCard tool={block.tool} args={block.args} result={block.result} approval={block.approval} isRunning={isActive} />
          {block.approval && isActive && <ApprovalCard tool={block.tool} args={block.args} approval={block.approval} onDecide={onDecide} />}
        </>
      )
  }
}

function State({ turn, isFirstActive }: { turn: ShownTurn; isFirstActive: boolean }) {
  const { phase, error, wasRestarted, log } = turn
  switch (phase) {
    case 'queued':
      return <p className="state">{isFirstActive ? <Dots>Waiting for a worker</Dots> : 'Waits for the answer before it'}</p>
    case 'working':
      return <p className="state">{wasRestarted ? <Dots>Worker restarted, continuing</Dots> : <Dots>Working</Dots>}</p>
    case 'restarting':
      return (
        <p className="state warn">
          <Dots>The worker is gone. Another one continues from the last finished step</Dots>
        </p>
      )
    case 'paused':
      return (
        <p className="state warn">
          {log?.retry ? `${log.retry.message} Next try at ${clockTime(log.retry.until)}.` : <Dots>Waiting to continue</Dots>}
        </p>
      )
    case 'approval':
      return <p className="state warn">Waits for your approval</p>
    case 'stopping':
      return (
        <p className="state">
          <Dots>Stopping</Dots>
        </p>
      )
    case 'failed':
      return (
        <p className="state bad" role="alert">
          {error?.message ?? 'This answer failed.'}
        </p>
      )
    case 'cancelled':
      return <p className="state">Stopped</p>
    case 'completed':
      return null
  }
}

function Dots({ children }: { children: string }) {
  return (
    <>
      {children}
      <span className="dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
    </>
  )
}

function Footer({ turn, isFirstActive, onStop, onRetry, onDetails }: Omit<TurnViewProps, 'onDecide'>) {
  const { phase, runId } = turn
  return (
    <footer className="turn-actions">
      {phase === 'queued' && !isFirstActive && (
        <button type="button" className="quiet-button" onClick={() => onStop(runId)}>
          Take back
        </button>
      )}
      {(phase === 'failed' || phase === 'cancelled') && (
        <button type="button" className="quiet-button" onClick={() => onRetry(runId)}>
          Try again
        </button>
      )}
      <button type="button" className="quiet-button" onClick={() => onDetails(turn)}>
        Details
      </button>
    </footer>
  )
}
