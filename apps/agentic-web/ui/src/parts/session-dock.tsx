// The sessions: search, open, begin, delete.
import { useState } from 'react'
import type { SessionSummary } from '../../../src/wire/session.ts'
import type { Sessions } from '../hooks/use-sessions.ts'
import { Icon } from './icon.tsx'
import { count, shortTime } from './words.ts'

interface SessionDockProps {
  sessions: Sessions
  openId: string | null
  onOpen: (sessionId: string) => void
  onNew: () => void
  onDelete: (sessionId: string) => void
  onSettings: () => void
}

export function SessionDock({ sessions, openId, onOpen, onNew, onDelete, onSettings }: SessionDockProps) {
  const { list, error, search, setSearch, refresh } = sessions
  return (
    <>
      <header className="dock-head">
        <h2>Sessions</h2>
        <button type="button" className="button" onClick={onNew}>
          New
        </button>
      </header>
      <input
        type="search"
        className="field"
        placeholder="Search sessions"
        aria-label="Search sessions"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {error && (
        <p className="banner bad" role="alert">
          {error}
        </p>
      )}
      <ul className="session-list" aria-label="Sessions">
        {list?.sessions.map((session) => (
          <SessionCard
            key={session.session_id}
            session={session}
            isOpen={session.session_id === openId}
            onOpen={onOpen}
            onDelete={onDelete}
          />
        ))}
        {list?.sessions.length === 0 && <li className="hint">{search ? 'No session matches.' : 'No sessions yet.'}</li>}
      </ul>
      <footer className="dock-foot">
        <span className="hint">{list ? `${list.sessions.length} visible / ${list.total} total` : 'Loading…'}</span>
        <button type="button" className="quiet-button" onClick={refresh}>
          Refresh
        </button>
        <button type="button" className="quiet-button" onClick={onSettings}>
          Settings
        </button>
      </footer>
    </>
  )
}

interface SessionCardProps {
  session: SessionSummary
  isOpen: boolean
  onOpen: (sessionId: string) => void
  onDelete: (sessionId: string) => void
}

function SessionCard({ session, isOpen, onOpen, onDelete }: SessionCardProps) {
  const [isAsking, setAsking] = useState(false)
  const { session_id, title, preview, message_count, is_busy, updated_at } = session
  const name = title ?? (preview || 'New session')
  return (
    <li className="session" data-open={isOpen}>
      <button type="button" className="session-open" aria-current={isOpen ? 'true' : undefined} onClick={() => onOpen(session_id)}>
        <span className="session-name">{name}</span>
        <span className="hint">
          {shortTime(updated_at)} · {is_busy ? <span className="busy">working</span> : count(message_count, 'message')}
        </span>
      </button>
      {isAsking ? (
        <span className="session-confirm">
          <button type="button" className="quiet-button bad" onClick={() => onDelete(session_id)}>
            Delete for good
          </button>
          <button ref={focus} type="button" className="quiet-button" onClick={() => setAsking(false)}>
            Keep
          </button>
        </span>
      ) : (
        <button type="button" className="icon-button" aria-label={`Delete ${name}`} onClick={() => setAsking(true)}>
          <Icon name="close" />
        </button>
      )}
    </li>
  )
}

/** The button that asked is gone. */
function focus(element: HTMLElement | null): void {
  element?.focus()
}
