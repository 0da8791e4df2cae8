// A call of a tool: one line, and on demand what was asked for and what came back.
import { useState } from 'react'
import type { ToolApproval, ToolResult } from '../state/run-log.ts'
import { inOrder } from './in-order.ts'
import { argument, askedFor, returned } from './tool-words.ts'
import { bytes } from './words.ts'

const PREVIEW_LINES = 5

interface ToolCardProps {
  tool: string
  args: unknown
  result: ToolResult | null
  approval: ToolApproval | undefined
  /** Without a result: whether one can still come. */
  isRunning: boolean
}

export function ToolCard({ tool, args, result, approval, isRunning }: ToolCardProps) {
  const state = result ? (result.is_error ? 'failed' : 'ok') : isRunning ? 'running' : 'stopped'
  return (
    <details className={`card tool ${state}`}>
      <summary>
        <span className="mark" aria-hidden="true" />
        <span className="name">{tool}</span>
        <span className="line">{askedFor(tool, args)}</span>
        {result?.violation && <span className="tag">sandbox warning</span>}
        <span className="outcome">{result ? returned(result) : unfinished(isRunning, approval)}</span>
      </summary>
      <div className="inside">
        <Arguments tool={tool} args={args} />
        {approval?.isApproved !== undefined && approval.isApproved !== null && (
          <p className="hint">{approval.isApproved ? 'Approved' : 'Not approved'}</p>
        )}
        {result && <Result result={result} />}
      </div>
    </details>
  )
}

function unfinished(isRunning: boolean, approval: ToolApproval | undefined): string {
  if (!isRunning) return 'not finished'
  return approval?.isApproved === null ? 'waits for approval' : 'running…'
}

export function Arguments({ tool, args }: { tool: string; args: unknown }) {
  const before = argument(args, 'old_string')
  const after = argument(args, 'new_string')
  if (tool === 'edit' && before !== undefined && after !== undefined)
    return (
      <pre className="code diff">
        {inOrder(before.split('\n'), (line) => (
          <del>{`- ${line}`}</del>
        ))}
        {inOrder(after.split('\n'), (line) => (
          <ins>{`+ ${line}`}</ins>
        ))}
      </pre>
    )
  return <pre className="code">{typeof args === 'string' ? args : JSON.stringify(args, null, 2)}</pre>
}

function Result({ result: { content, truncated, artifact, violation } }: { result: ToolResult }) {
  const [isWhole, setWhole] = useState(false)
  const lines = content.trimEnd().split('\n')
  const more = lines.length - PREVIEW_LINES
  const shown = isWhole ? lines : lines.slice(0, PREVIEW_LINES)
  return (
    <>
      {violation && <p className="state warn">Sandbox: {violation.message}</p>}
      <pre className="code">{shown.join('\n') || '(nothing)'}</pre>
      {more > 0 && (
        <button type="button" className="quiet-button" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show ${more} more`}
        </button>
      )}
      {truncated && (
        <p className="hint">
          This is only the beginning of what the tool returned.{' '}
          {artifact && <a href={`/api/artifacts/${artifact.id}`}>Download all of it ({bytes(artifact.bytes)})</a>}
        </p>
      )}
    </>
  )
}
