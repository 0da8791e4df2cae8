import { localClient } from '@coji/durably/client'
import { DurablyProvider } from '@coji/durably-react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { createContacts } from './contacts.ts'
import { durably } from './durably.ts'
import type { jobs } from './jobs.ts'
import './jobs.ts'
import './style.css'

const root = createRoot(document.getElementById('root') as HTMLElement)
const client = localClient<typeof jobs>(durably)

try {
  await durably.migrate()
  await createContacts()
  durably.start()
  root.render(
    <StrictMode>
      <DurablyProvider client={client}>
        <App />
      </DurablyProvider>
    </StrictMode>,
  )
} catch (error) {
  root.render(<p role="alert">This page cannot open its database: {String(error)}</p>)
}

// So that the page itself opens without a network.
if (import.meta.env.PROD) await navigator.serviceWorker?.register('./sw.js')
