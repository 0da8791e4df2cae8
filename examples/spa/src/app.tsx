import { useRuns } from '@coji/durably-react'
import { useState } from 'react'
import { ContactList } from './contact-list.tsx'
import { ImportPanel } from './import-panel.tsx'
import { RunDetails } from './run-details.tsx'
import { RunList } from './run-list.tsx'
import { TabBar } from './tab-bar.tsx'

export function App() {
  const { runs } = useRuns({ jobName: 'import-csv', limit: 20 })
  const [wanted, setWanted] = useState(() => location.hash.slice(1))
  const chosen = runs.find(({ id }) => id === wanted) ?? runs[0]

  /** In the address too, so that a reload shows the same run. */
  function choose(id: string): void {
    history.replaceState(null, '', `#${id}`)
    setWanted(id)
  }

  return (
    <>
      <TabBar />
      <main>
        <div className="column">
          <ImportPanel onTrigger={choose} />
          <RunList runs={runs} chosenId={chosen?.id} onChoose={choose} />
          <Hints />
        </div>
        <div className="column">
          {chosen && <RunDetails key={chosen.id} runId={chosen.id} />}
          <ContactList runs={runs} />
        </div>
      </main>
    </>
  )
}

function Hints() {
  return (
    <section className="card">
      <h2>Try this</h2>
      <ul className="hints quiet">
        <li>Reload in the middle of an import, or close the tab. It goes on with the first step that is not recorded.</li>
        <li>Open this page in a second tab: both show the same, one executes. Close that one.</li>
        <li>Turn the network off. Nothing here needs it.</li>
      </ul>
    </section>
  )
}
