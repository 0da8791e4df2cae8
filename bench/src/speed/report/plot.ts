// The plot: for each row one bar per contender, as many times as fast as Durably. The axis is logarithmic, and Durably is its middle line.
import type { Result, Results } from '../results.ts'
import { short } from './numbers.ts'

const BAR = 13
const GAP = 26
const LEFT = 300
const WIDTH = 900
const RIGHT = 130
const TOP = 56
/** The axis ends at a hundredth and at a hundred times. */
const DECADES = 2

const INK = '#57606a'
const COLOURS = { ours: '#0969da', reference: '#8c959f', peer: '#d4a72c' }

export function plot({ rows, machine }: Results): string {
  const parts: string[] = []
  let y = TOP
  for (const { title, results } of rows) {
    const ours = results.find(isOurs)
    parts.push(text(8, y + 10, title, { weight: 600 }))
    y += 16
    for (const [i, result] of results.entries()) {
      parts.push(bar(result, ours, y, i === 0))
      y += BAR + 2
    }
    y += GAP - 16
  }
  const height = y + 10
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11" fill="${INK}">
<title>How many times as fast as Durably each contender is, row by row</title>
<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
${text(8, 18, `How many times as fast as Durably (${machine.at.slice(0, 10)}, ${machine.node}, ${machine.cores} cores)`, { weight: 600 })}
${axis(height)}
${parts.join('\n')}
</svg>
`
}

function isOurs({ key }: Result): boolean {
  return key === 'durably' || key === 'durablyTasks'
}

function bar(result: Result, ours: Result | undefined, y: number, isReference: boolean): string {
  const label = text(LEFT - 6, y + 10, result.title, { anchor: 'end' })
  if (result.median === undefined || !ours?.median) return `${label}\n${text(place(1) + 4, y + 10, 'no figure', {})}`
  const ratio = result.unit === 'ms' ? ours.median / result.median : result.median / ours.median
  const [from, to] = [place(1), place(ratio)].sort((a, b) => a - b) as [number, number]
  const colour = isOurs(result) || result.key.startsWith('durablyW') || result.key.startsWith('durablyOn') ? COLOURS.ours : COLOURS.peer
  const shape = `<rect x="${(from - 1).toFixed(1)}" y="${y}" width="${(to - from + 2).toFixed(1)}" height="${BAR}" fill="${isReference ? COLOURS.reference : colour}"/>`
  return `${label}\n${shape}\n${text(WIDTH - 4, y + 10, `${short(result.median)}${result.capped ? '*' : ''} ${result.unit}`, { anchor: 'end' })}`
}

function axis(height: number): string {
  const lines = Array.from({ length: 2 * DECADES + 1 }, (_, i) => 10 ** (i - DECADES)).map((ratio) => {
    const x = place(ratio)
    const width = ratio === 1 ? 1.5 : 0.5
    return `${text(x, TOP - 14, `${ratio}`, { anchor: 'middle' })}<line x1="${x}" x2="${x}" y1="${TOP - 8}" y2="${height}" stroke="${INK}" stroke-width="${width}"/>`
  })
  return lines.join('\n')
}

function place(ratio: number): number {
  const decades = Math.max(-DECADES, Math.min(DECADES, Math.log10(ratio)))
  const half = (WIDTH - LEFT - RIGHT) / 2
  return Math.round((LEFT + half + (decades / DECADES) * half) * 10) / 10
}

interface TextStyle {
  weight?: number
  anchor?: 'middle' | 'end'
}

function text(x: number, y: number, content: string, { weight = 400, anchor }: TextStyle): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x}" y="${y}" font-weight="${weight}"${anchor ? ` text-anchor="${anchor}"` : ''}>${escaped}</text>`
}
