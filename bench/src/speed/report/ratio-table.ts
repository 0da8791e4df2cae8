// The table of ratios: one line per row, Durably beside the reference and the peers.
import type { Result, Results, RowResult } from '../results.ts'
import { short, times } from './numbers.ts'

const OURS = ['durably', 'durablyTasks']
const WITHOUT_EVENTS = 'durablyWithoutEvents'

export function ratioTable({ rows }: Results): string {
  const head = ['Row', 'Reference', 'Durably', '÷ reference', '`eventLog: false`', '÷ reference', 'Others: figure (Durably ÷ it)']
  const lines = [head, head.map(() => '---'), ...rows.map(line)]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function line({ title, results }: RowResult): string[] {
  const [reference] = results
  const ours = results.find(({ key }) => OURS.includes(key))
  const withoutEvents = results.find(({ key }) => key === WITHOUT_EVENTS)
  const named = new Set([reference?.key, ours?.key, withoutEvents?.key, `${WITHOUT_EVENTS}-empty`])
  const others = results.filter(({ key }) => !named.has(key))
  return [
    title,
    reference ? `${reference.title} ${figure(reference)}` : '',
    ours ? figure(ours) : '',
    ratio(ours),
    withoutEvents ? figure(withoutEvents) : '',
    ratio(withoutEvents),
    others.map((other) => `${other.title} ${figure(other)}${beside(ours, other)}`).join('; '),
  ]
}

export function figure({ median, unit, capped, failed }: Result): string {
  if (median === undefined) return `– (${failed ?? 'not measured'})`
  return `${short(median)}${capped ? '\\*' : ''} ${unit}`
}

function ratio(result: Result | undefined): string {
  return result?.timesAsFast === undefined ? '' : times(result.timesAsFast)
}

/** Both are compared with the same reference, round by round. */
function beside(ours: Result | undefined, other: Result): string {
  if (!ours?.timesAsFast || !other.timesAsFast) return ''
  return ` (${times(ours.timesAsFast / other.timesAsFast)})`
}
