// The page: the dock of sessions beside the open one.
import { useCallback, useEffect, useState } from 'react'
import type { MeView } from '../../src/wire/account.ts'
import type { SettingsView } from '../../src/wire/settings.ts'
import { deleteSession, readSettings } from './api/api.ts'
import { tellOtherTabs } from './hooks/other-tabs.ts'
import { useActions } from './hooks/use-actions.ts'
import { useChat } from './hooks/use-chat.ts'
import { openSession, useSessionId } from './hooks/use-session-id.ts'
import { useSessions } from './hooks/use-sessions.ts'
import { ChatPanel } from './parts/chat-panel.tsx'
import { Drawer } from './parts/drawer.tsx'
import { SessionDock } from './parts/session-dock.tsx'
import { SettingsDialog } from './parts/settings-dialog.tsx'

export function App({ me }: { me: MeView }) {
  const sessionId = useSessionId()
  const sessions = useSessions()
  const open = useChat(sessionId, sessions.refresh)
  const [settings, setSettings] = useState<SettingsView | null>(null)
  const [isSettingsOpen, setSettingsOpen] = useState(false)
  const [isDrawerOpen, setDrawerOpen] = useState(false)
  const [notice, setNotice] = useState<string | null>(null)
  const closeDrawer = useCallback(() => setDrawerOpen(false), [])
  const changed = () => {
    sessions.refresh()
    tellOtherTabs()
  }
  const { send, stop, retry, decide } = useActions({ sessionId, open, onChanged: changed, onError: setNotice })
  useEffect(() => {
    readSettings().then(setSettings, (error: Error) => setNotice(error.message))
  }, [])

  const show = (id: string | null) => {
    openSession(id)
    closeDrawer()
    setNotice(null)
  }
  const remove = async (id: string) => {
    await deleteSession(id).catch((error: Error) => setNotice(error.message))
    if (id === sessionId) show(null)
    changed()
  }
  return (
    <div className="page" data-drawer={isDrawerOpen}>
      <button type="button" className="skip" onClick={() => document.getElementById('message')?.focus()}>
        Skip to the message box
      </button>
      <Drawer isOpen={isDrawerOpen} onClose={closeDrawer}>
        <SessionDock
          sessions={sessions}
          openId={sessionId}
          onOpen={show}
          onNew={() => show(null)}
          onDelete={remove}
          onSettings={() => setSettingsOpen(true)}
        />
      </Drawer>
      <ChatPanel
        key={sessionId}
        open={open}
        sessionId={sessionId}
        isDemo={settings?.provider === 'demo'}
        notice={notice}
        setNotice={setNotice}
        onMenu={() => setDrawerOpen(true)}
        onNew={() => show(null)}
        onSend={send}
        onStop={stop}
        onRetry={retry}
        onDecide={decide}
      />
      {isSettingsOpen && settings && (
        <SettingsDialog me={me} settings={settings} onChanged={setSettings} onClose={() => setSettingsOpen(false)} />
      )}
    </div>
  )
}
