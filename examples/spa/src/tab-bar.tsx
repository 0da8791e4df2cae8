// The role of this tab among the open ones, and the button that reloads the page.
import type { Capabilities } from '@coji/durably'
import { useEffect, useState } from 'react'
import { durably, pageName } from './durably.ts'

export function TabBar() {
  const tab = useTab()
  return (
    <header>
      <h1>CSV import</h1>
      <p className="motto">Runs in this browser, in steps. Reload whenever you like.</p>
      <p className={`tab ${tab?.executes ? 'executes' : ''}`} role="status">
        <b>{pageName}</b> {describe(tab)}
      </p>
      <button type="button" className="primary" onClick={() => location.reload()}>
        Reload the page now
      </button>
    </header>
  )
}

function describe(tab: Capabilities | null): string {
  if (!tab) return '…'
  if (tab.executes) return 'executes the imports'
  if (tab.role === 'host-frozen') return 'waits: the browser has frozen the tab that has the database. Open or close it.'
  return 'watches; another tab executes'
}

function useTab(): Capabilities | null {
  const [tab, setTab] = useState<Capabilities | null>(null)
  useEffect(() => {
    const look = async () => setTab(await durably.capabilities())
    look()
    const timer = setInterval(look, 500)
    return () => clearInterval(timer)
  }, [])
  return tab
}
