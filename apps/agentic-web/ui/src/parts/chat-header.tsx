// The title of the session, what it is doing, and the way to the dock and the files.
import type { ShownTurn } from '../state/shown-turn.ts'
import { Icon } from './icon.tsx'
import { StatusPill } from './status.tsx'

interface ChatHeaderProps {
  title: string
  sessionId: string | null
  isDemo: boolean
  /** The turn that the pill is about. */
  shown: ShownTurn | undefined
  isReconnecting: boolean
  isFilesOpen: boolean
  onFiles: () => void
  onMenu: () => void
}

export function ChatHeader({ title, sessionId, isDemo, shown, isReconnecting, isFilesOpen, onFiles, onMenu }: ChatHeaderProps) {
  return (
    <header className="chat-head">
      <button type="button" className="icon-button menu" aria-label="Sessions" onClick={onMenu}>
        <Icon name="menu" />
      </button>
      <div className="chat-title">
        <h1>{title}</h1>
        {sessionId !== null && <span className="hint session-id">{sessionId}</span>}
      </div>
      {isDemo && <span className="tag">Demo model: scripted, not an AI</span>}
      <StatusPill phase={shown?.phase ?? 'completed'} wasRestarted={shown?.wasRestarted ?? false} isReconnecting={isReconnecting} />
      {sessionId !== null && (
        <button type="button" className="quiet-button" aria-expanded={isFilesOpen} onClick={onFiles}>
          Files
        </button>
      )}
    </header>
  )
}
