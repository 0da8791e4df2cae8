// The page that looks at one run: its text, its status, its connection, and a button that stops it.
import { emptyRunView, httpClient, reduceRun } from '@coji/durably/client'

const client = httpClient({ url: `${location.origin}/api` })
const runId = location.hash.slice(1)
const place = (id: string) => document.querySelector(`#${id}`) as HTMLElement

place('stop').onclick = () => void client.cancel(runId)

let view = emptyRunView
const onConnection = (state: string) => {
  place('connection').textContent = state
}
for await (const event of client.subscribe(runId, { onConnection })) {
  view = reduceRun(view, event)
  place('status').textContent = view.status
  place('transcript').textContent = Object.values(view.streams)
    .map(({ text }) => text)
    .join('')
}
