// The list of the dock. It is asked for again when something changes, and now and then while a session is busy.
import { useCallback, useEffect, useState } from 'react'
import type { SessionList } from '../../../src/wire/session.ts'
import { listSessions } from '../api/api.ts'
import { onChangeElsewhere } from './other-tabs.ts'

const BUSY_REFRESH_MS = 5000
const TYPING_MS = 150

export interface Sessions {
  list: SessionList | null
  error: string | null
  search: string
  setSearch: (text: string) => void
  refresh: () => void
}

export function useSessions(): Sessions {
  const [search, setSearch] = useState('')
  const [asked, setAsked] = useState(0)
  const [list, setList] = useState<SessionList | null>(null)
  const [error, setError] = useState<string | null>(null)
  const refresh = useCallback(() => setAsked((n) => n + 1), [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` counts the wishes for a fresh list
  useEffect(() => {
    let isOld = false
    const load = () =>
      listSessions(search).then(
        (loaded) => {
          if (isOld) return
          setList(loaded)
          setError(null)
        },
        (reason: Error) => {
          if (!isOld) setError(reason.message)
        },
      )
    const timer = setTimeout(load, search ? TYPING_MS : 0)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [search, asked])

  useEffect(() => onChangeElsewhere(refresh), [refresh])

  const isBusy = list?.sessions.some(({ is_busy }) => is_busy) ?? false
  useEffect(() => {
    if (!isBusy) return
    const timer = setInterval(() => document.visibilityState === 'visible' && refresh(), BUSY_REFRESH_MS)
    return () => clearInterval(timer)
  }, [isBusy, refresh])

  return { list, error, search, setSearch, refresh }
}
