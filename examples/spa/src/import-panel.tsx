// The input: the sample, a file from the file picker, or a dropped file. Its text becomes the input of a run, which is stored at once.
import { useDurably } from '@coji/durably-react'
import { useState } from 'react'
import sample from './sample.csv?raw'

const PAUSES_MS = [0, 500, 2000]

export function ImportPanel({ onTrigger }: { onTrigger(runId: string): void }) {
  const client = useDurably()
  const [pauseMs, setPauseMs] = useState(500)
  const [isOver, setIsOver] = useState(false)
  const [error, setError] = useState<unknown>(null)

  async function importText(fileName: string, text: string): Promise<void> {
    try {
      const run = await client.trigger('import-csv', { fileName, text, pauseMs })
      setError(null)
      onTrigger(run.id)
    } catch (error) {
      setError(error)
    }
  }

  async function importFiles(files: FileList | null): Promise<void> {
    for (const file of files ?? []) await importText(file.name, await file.text())
  }

  return (
    <section
      aria-label="Import"
      className={`card drop ${isOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setIsOver(false)
        importFiles(event.dataTransfer.files)
      }}
    >
      <h2>Import</h2>
      <p className="quiet">
        A CSV file with the columns <code>name</code>, <code>email</code> and <code>city</code>. Drop one here.
      </p>
      <div className="actions">
        <button type="button" className="primary" onClick={() => importText('sample.csv', sample)}>
          Import the sample
        </button>
        <label className="button">
          Choose a file…
          <input type="file" accept=".csv,text/csv" multiple onChange={(event) => importFiles(event.target.files)} />
        </label>
      </div>
      <label className="quiet">
        Pause per 20 rows{' '}
        <select value={pauseMs} onChange={(event) => setPauseMs(Number(event.target.value))}>
          {PAUSES_MS.map((ms) => (
            <option key={ms} value={ms}>
              {ms === 0 ? 'none' : `${ms / 1000} s`}
            </option>
          ))}
        </select>
      </label>
      {error !== null && <p role="alert">{String(error)}</p>}
    </section>
  )
}
