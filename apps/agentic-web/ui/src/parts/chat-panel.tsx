// The open session: header, status, messages and the message box.
import { useMemo, useState } from 'react'
import type { OpenChat } from '../hooks/use-chat.ts'
import type { Phase } from '../state/phase.ts'
import { type ShownTurn, shownTurns } from '../state/shown-turn.ts'
import { ChatHeader } from './chat-header.tsx'
import { Composer } from './composer.tsx'
import { FilesPanel } from './files-panel.tsx'
import { Icon } from './icon.tsx'
import { MessageList } from './message-list.tsx'
import { QuickPrompts } from './quick-prompts.tsx'
import { RunDetailsDialog } from './run-details.tsx'
import { COMMANDS, type CommandName } from './slash-commands.ts'
import { StatusStrip } from './status.tsx'
import type { TurnActions } from './turn-view.tsx'

const ENDED: ReadonlySet<Phase> = new Set<Phase>(['completed', 'failed', 'cancelled'])

interface ChatPanelProps {
  open: OpenChat
  sessionId: string | null
  isDemo: boolean
  notice: string | null
  setNotice: (text: string | null) => void
  onMenu: () => void
  onNew: () => void
  onSend: (text: string) => Promise<boolean>
  onStop: (runId: string) => void
  onRetry: (runId: string) => void
  onDecide: TurnActions['onDecide']
}

export function ChatPanel(props: ChatPanelProps) {
  const { open, sessionId, isDemo, notice, setNotice, onMenu, onNew, onSend, onStop, onRetry, onDecide } = props
  const { chat, problem, isReconnecting } = open
  const [detailsOf, setDetailsOf] = useState<string | null>(null)
  const [isFilesOpen, setFilesOpen] = useState(false)
  const [clearedTo, setClearedTo] = useState(0)
  const all = useMemo(() => (chat ? shownTurns(chat) : []), [chat])
  const turns = useMemo(() => all.slice(clearedTo), [all, clearedTo])
  const active = all.find(({ phase }) => !ENDED.has(phase))
  const details = all.find(({ runId }) => runId === detailsOf)

  const onCommand = (command: CommandName | 'unknown') => {
    setNotice(null)
    if (command === '/new') onNew()
    else if (command === '/cancel') active ? onStop(active.runId) : setNotice('Nothing is running.')
    else if (command === '/clear') {
      setClearedTo(all.length)
      setNotice('The view is empty. The session keeps its messages; a reload shows them.')
    } else setNotice(`${command === 'unknown' ? 'There is no such command. ' : ''}${HELP}`)
  }
  return (
    <>
      <main className="chat">
        <ChatHeader
          title={chat?.title ?? (all[0]?.question.slice(0, 80) || 'New session')}
          sessionId={sessionId}
          isDemo={isDemo}
          shown={active ?? all.at(-1)}
          isReconnecting={isReconnecting}
          isFilesOpen={isFilesOpen}
          onFiles={() => setFilesOpen(!isFilesOpen)}
          onMenu={onMenu}
        />
        {all.length > 0 && <StatusStrip turns={all} active={active} />}
        {problem && (
          <p className="banner bad" role="alert">
            {problem}
          </p>
        )}
        {notice && <Notice text={notice} onDismiss={() => setNotice(null)} />}
        {sessionId !== null && !chat && !problem && <p className="hint opening">Opening the session…</p>}
        {all.length === 0 && (chat || sessionId === null) && <QuickPrompts onPick={onSend} isDemo={isDemo} />}
        {all.length > 0 && (
          <MessageList
            turns={turns}
            activeId={active?.runId}
            onStop={onStop}
            onRetry={onRetry}
            onDecide={onDecide}
            onDetails={({ runId }: ShownTurn) => setDetailsOf(runId)}
          />
        )}
        <Composer
          canStop={active !== undefined}
          isStopping={active?.phase === 'stopping'}
          onSend={onSend}
          onCommand={onCommand}
          onStop={() => active && onStop(active.runId)}
        />
      </main>
      {isFilesOpen && sessionId !== null && (
        <FilesPanel sessionId={sessionId} version={toolsDone(all)} onClose={() => setFilesOpen(false)} />
      )}
      {details && <RunDetailsDialog runId={details.runId} log={details.log} onClose={() => setDetailsOf(null)} />}
    </>
  )
}

function Notice({ text, onDismiss }: { text: string; onDismiss: () => void }) {
  return (
    <p className="banner" role="status">
      {text}
      <button type="button" className="icon-button" aria-label="Dismiss" onClick={onDismiss}>
        <Icon name="close" />
      </button>
    </p>
  )
}

const HELP = COMMANDS.map(({ name, what }) => `${name}: ${what}`).join(' · ')

/** Files are written in the step after that of the tool, so the step that follows counts too. */
function toolsDone(turns: readonly ShownTurn[]): number {
  return turns.reduce((sum, { log }) => sum + (log?.steps.length ?? 0) + (log?.done ? 1 : 0), 0)
}
