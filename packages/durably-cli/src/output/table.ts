// A table that fits the terminal: the widest columns give way first, and the ids stay whole as long as possible.
import type { Io } from './io.ts'
import { type Color, paint } from './paint.ts'
import { printable } from './printable.ts'
import { cut, widthOf } from './width.ts'

export interface Cell {
  text: string
  color?: Color
}

export interface Column {
  title: string
  /** Never cut off, such as an id that somebody copies. */
  whole?: boolean
  right?: boolean
}

const GAP = '  '
/** A column gives way down to this width. */
const WIDTH_MIN = 6

export function table(
  io: Pick<Io, 'columns' | 'hasColors'>,
  columns: readonly Column[],
  rows: readonly (readonly (Cell | string)[])[],
): string {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? { text: printable(cell) } : { ...cell, text: printable(cell.text) })),
  )
  const widths = fitted(columns, naturalWidths(columns, cells), io.columns)
  const line = (texts: readonly Cell[], color?: Color) =>
    columns
      .map((column, i) => {
        const { text, color: own = color } = texts[i] ?? { text: '' }
        const shown = aligned(cut(text, widths[i] ?? 0), widths[i] ?? 0, column, i === columns.length - 1)
        return own ? paint(io, own, shown) : shown
      })
      .join(GAP)
      .trimEnd()
  const titles = columns.map(({ title }) => ({ text: title }))
  return [line(titles, 'dim'), ...cells.map((row) => line(row))].join('\n')
}

function aligned(text: string, width: number, { right }: Column, isLast: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)))
  if (right) return space + text
  return isLast ? text : text + space
}

function naturalWidths(columns: readonly Column[], rows: readonly (readonly Cell[])[]): number[] {
  return columns.map(({ title }, i) => Math.max(widthOf(title), ...rows.map((row) => widthOf(row[i]?.text ?? ''))))
}

function fitted(columns: readonly Column[], natural: readonly number[], max: number): number[] {
  const widths = [...natural]
  const room = () => max - GAP.length * (columns.length - 1) - widths.reduce((sum, width) => sum + width, 0)
  while (room() < 0) {
    const shrinkable = widths.map((width, i) => (columns[i]?.whole || width <= WIDTH_MIN ? 0 : width))
    const widest = Math.max(...shrinkable)
    if (widest === 0) break
    const i = shrinkable.indexOf(widest)
    widths[i] = Math.max(WIDTH_MIN, widest + Math.max(room(), -Math.ceil(widest / 4)))
  }
  return widths
}
