// The job: checks the rows of a CSV file and saves them as contacts, a few at a time.
//   - After a reload the function runs again and skips the steps that are recorded. So the code between steps must give
//     the same result each time: here, the same text gives the same rows.
//   - Rows are saved in the transaction that records the step: none is lost and none is saved twice, whenever the page is closed.
import { z } from 'zod'
import { contactSchema, saveContacts } from './contacts.ts'
import { parseCsv } from './csv.ts'
import { durably, pageName } from './durably.ts'

const ROWS_PER_STEP = 20

const importCsv = durably.defineJob(
  {
    name: 'import-csv',
    // `pauseMs` makes each chunk slow, so that there is something to watch. A real import does not need it.
    input: z.object({ fileName: z.string(), text: z.string(), pauseMs: z.number() }),
    output: z.object({ saved: z.number(), rejected: z.number() }),
  },
  async (ctx, { text, pauseMs }) => {
    ctx.log.info(`executed by ${pageName}`)
    const { columns, rows } = parseCsv(text)

    await ctx.run('check the columns', () => {
      const missing = Object.keys(contactSchema.shape).filter((column) => !columns.includes(column))
      if (missing.length > 0) throw new Error(`the first line does not name ${missing.join(', ')}`)
    })

    let saved = 0
    for (let first = 0; first < rows.length; first += ROWS_PER_STEP) {
      const chunk = rows.slice(first, first + ROWS_PER_STEP)
      const last = first + chunk.length
      const range = `rows ${first + 1}–${last}`

      const contacts = await ctx.run(`check ${range}`, async ({ log, signal }) => {
        await pause(pauseMs, signal)
        return chunk.flatMap((row, i) => {
          const { data, error } = contactSchema.safeParse(row)
          if (error)
            log.warn(`row ${first + i + 1} is left out: ${error.issues.map((issue) => `${issue.path} ${issue.message}`).join(', ')}`)
          return data ?? []
        })
      })
      // Stored together with the next step.
      ctx.progress(last, rows.length)
      await ctx.transaction(`save ${range}`, (trx) => saveContacts(trx, contacts))
      saved += contacts.length
    }
    return { saved, rejected: rows.length - saved }
  },
)

export const jobs = { importCsv }

declare module '@coji/durably-react' {
  interface Register {
    jobs: typeof jobs
  }
}

/** Ends early when the run is cancelled. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, ms)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
