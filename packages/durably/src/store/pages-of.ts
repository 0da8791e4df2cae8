// The steps or the log lines of a run page by page, so that no statement reads very many rows, or very large ones. How large the rows are is not
// known before: the first page is small, and each page has as many rows as should fit by the size of those of the page before.
import type { RowPage } from './row-page.ts'

const FIRST_ROWS = 25
const ROWS_MAX = 1000
/** Of the texts of one page. */
const CHARS_WANTED = 4 * 1024 * 1024

/** Ends with the last page; `null` when there is no answer to a page, which ends it, too. */
export async function* pagesOf<Row extends { id: string }>(
  read: (page: RowPage) => Promise<Row[] | null>,
  { after: from, limit = Number.POSITIVE_INFINITY }: RowPage = {},
): AsyncGenerator<Row[] | null, void> {
  let after = from
  let rows = FIRST_ROWS
  for (let left = limit; left > 0; ) {
    const wanted = Math.min(rows, left)
    const page = await read({ limit: wanted, ...(after !== undefined && { after }) })
    yield page
    if (!page || page.length < wanted) return
    left -= page.length
    after = page.at(-1)?.id
    rows = Math.min(ROWS_MAX, Math.max(1, Math.floor((CHARS_WANTED * page.length) / charsOf(page))))
  }
}

/** All of them; `null` when there was no answer to a page. */
export async function allOf<Row>(pages: AsyncIterable<Row[] | null>): Promise<Row[] | null> {
  const rows: Row[] = []
  for await (const page of pages) {
    if (!page) return null
    rows.push(...page)
  }
  return rows
}

export function charsOf(rows: readonly object[]): number {
  let chars = 0
  for (const row of rows) for (const value of Object.values(row)) if (typeof value === 'string') chars += value.length
  return chars
}
