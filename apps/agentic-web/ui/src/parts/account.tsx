// Who is signed in, and how to leave.
import { useState } from 'react'
import type { MeView } from '../../../src/wire/account.ts'
import { signOut } from '../api/api.ts'
import { signedOut } from '../api/request.ts'

export function Account({ me }: { me: MeView }) {
  const [problem, setProblem] = useState<string | null>(null)
  const leave = (everywhere: boolean) => () => signOut(everywhere).then(signedOut, (error: Error) => setProblem(error.message))
  return (
    <section className="account" aria-label="Account">
      <h3>Account</h3>
      <p className="hint">Signed in as {me.email}</p>
      {problem && (
        <p className="banner bad" role="alert">
          {problem}
        </p>
      )}
      <div className="form-actions">
        <button type="button" className="quiet-button" onClick={leave(true)}>
          Sign out everywhere
        </button>
        <button type="button" className="quiet-button" onClick={leave(false)}>
          Sign out
        </button>
      </div>
    </section>
  )
}
