// CSV as spreadsheets write it: fields between commas, in quotes if they contain a comma, a quote or a line break.

export interface Csv {
  /** The names in the first line. */
  columns: string[]
  rows: { [column: string]: string }[]
}

export function parseCsv(text: string): Csv {
  const [columns = [], ...lines] = linesOf(text.replace(/^\uFEFF/, ''))
  const rows = lines.map((fields) => Object.fromEntries(columns.map((column, i) => [column, fields[i] ?? ''])))
  return { columns, rows }
}

/** Empty lines do not count. */
function linesOf(text: string): string[][] {
  const lines: string[][] = []
  let fields: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g)) {
    fields.push((quoted?.replaceAll('""', '"') ?? plain).trim())
    if (end === ',') continue
    if (fields.join('') !== '') lines.push(fields)
    fields = []
  }
  return lines
}
