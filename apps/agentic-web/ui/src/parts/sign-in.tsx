// The forms with which one gets in: with a password, or with a link to choose one.
import { type FormEvent, type ReactNode, useState } from 'react'
import type { AuthMode, MeView } from '../../../src/wire/account.ts'
import { acceptInvite, signIn } from '../api/api.ts'

interface SignInProps {
  onSignedIn: (me: MeView) => void
}

export function SignInForm({ mode, onSignedIn }: SignInProps & { mode: AuthMode }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  if (mode === 'oidc') return <SignInElsewhere />
  return (
    <GateForm title="Sign in" action="Sign in" submit={() => signIn(email, password)} onSignedIn={onSignedIn}>
      <label>
        E-mail
        <input
          className="field"
          type="email"
          required
          autoComplete="username"
          value={email}
          onChange={({ target }) => setEmail(target.value)}
        />
      </label>
      <label>
        Password
        <input
          className="field"
          type="password"
          required
          autoComplete="current-password"
          value={password}
          onChange={({ target }) => setPassword(target.value)}
        />
      </label>
    </GateForm>
  )
}

export function InviteForm({ token, onSignedIn }: SignInProps & { token: string }) {
  const [password, setPassword] = useState('')
  return (
    <GateForm title="Choose a password" action="Save and sign in" submit={() => acceptInvite(token, password)} onSignedIn={onSignedIn}>
      <label>
        New password
        <input
          className="field"
          type="password"
          required
          minLength={10}
          autoComplete="new-password"
          value={password}
          onChange={({ target }) => setPassword(target.value)}
        />
      </label>
    </GateForm>
  )
}

function SignInElsewhere() {
  return (
    <main className="gate">
      <h1>Sign in</h1>
      <a className="button" href="/api/oauth/oidc/start?purpose=login">
        Sign in with your organisation
      </a>
    </main>
  )
}

interface GateFormProps extends SignInProps {
  title: string
  action: string
  submit: () => Promise<MeView>
  children: ReactNode
}

function GateForm({ title, action, submit, onSignedIn, children }: GateFormProps) {
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const send = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    await submit().then(onSignedIn, (error: Error) => setProblem(error.message))
    setBusy(false)
  }
  return (
    <main className="gate">
      <h1>{title}</h1>
      <form className="form" onSubmit={send}>
        {children}
        {problem && (
          <p className="banner bad" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" className="button" disabled={isBusy}>
          {action}
        </button>
      </form>
    </main>
  )
}
