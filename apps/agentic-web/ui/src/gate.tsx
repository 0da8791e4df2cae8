// Who is signed in sees the app, everybody else the form to sign in.
import { useCallback, useEffect, useState } from 'react'
import type { AuthMode, MeView } from '../../src/wire/account.ts'
import { readAuth, readMe } from './api/api.ts'
import { ApiError, onSignedOut } from './api/request.ts'
import { App } from './app.tsx'
import { InviteForm, SignInForm } from './parts/sign-in.tsx'

type Shown = { me: MeView } | { mode: AuthMode } | { problem: string } | null

export function Gate() {
  const [shown, setShown] = useState<Shown>(null)
  const [invite, setInvite] = useState(() => /^#invite=([\w-]+)$/.exec(location.hash)?.[1])
  const ask = useCallback(() => {
    find().then(setShown, (error: Error) => setShown({ problem: error.message }))
  }, [])
  useEffect(() => {
    onSignedOut(() => setShown((now) => (now && 'me' in now ? null : now)))
  }, [])
  useEffect(() => {
    if (shown === null) ask()
  }, [shown, ask])

  const enter = (me: MeView) => {
    // The link has done its work, and leaves the address and the history.
    if (invite !== undefined) history.replaceState(null, '', '/')
    setInvite(undefined)
    setShown({ me })
  }
  if (invite !== undefined) return <InviteForm token={invite} onSignedIn={enter} />
  if (shown === null) return null
  if ('me' in shown) return <App key={shown.me.user_id} me={shown.me} />
  if ('mode' in shown) return <SignInForm mode={shown.mode} onSignedIn={enter} />
  return (
    <main className="gate">
      <p className="banner bad" role="alert">
        {shown.problem}
      </p>
      <button type="button" className="button" onClick={ask}>
        Try again
      </button>
    </main>
  )
}

async function find(): Promise<Shown> {
  try {
    return { me: await readMe() }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'signed_out') return readAuth()
    throw error
  }
}
