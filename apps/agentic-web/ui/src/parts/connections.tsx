// Services that the user has connected, instead of a key. Nothing is shown if the operator has configured none.
import { useCallback, useEffect, useState } from 'react'
import type { OauthView } from '../../../src/wire/oauth.ts'
import { connectAddress, disconnect, listConnections } from '../api/api.ts'

export function Connections() {
  const [providers, setProviders] = useState<OauthView[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const read = useCallback(
    () =>
      listConnections().then(
        (list) => setProviders(list.providers),
        (error: Error) => setProblem(error.message),
      ),
    [],
  )
  useEffect(() => void read(), [read])
  if (providers.length === 0 && problem === null) return null
  return (
    <section className="account" aria-label="Connections">
      <h3>Connections</h3>
      {problem && (
        <p className="banner bad" role="alert">
          {problem}
        </p>
      )}
      <ul className="rows">
        {providers.map((provider) => (
          <ConnectionRow
            key={provider.provider}
            connection={provider}
            onDisconnect={() => disconnect(provider.provider).then(read, (error: Error) => setProblem(error.message))}
          />
        ))}
      </ul>
    </section>
  )
}

const WORDS = { none: 'not connected', connected: 'connected', reconnect: 'the connection has ended' } as const

function ConnectionRow({ connection, onDisconnect }: { connection: OauthView; onDisconnect: () => void }) {
  const { provider, label, status, account } = connection
  return (
    <li>
      <span>
        {label}: {WORDS[status]}
        {account !== null && ` (${account})`}
      </span>
      <span className="form-actions">
        {status !== 'connected' && (
          <a className="quiet-button" href={connectAddress(provider)}>
            {status === 'none' ? 'Connect' : 'Reconnect'}
          </a>
        )}
        {status !== 'none' && (
          <button type="button" className="quiet-button" onClick={onDisconnect}>
            Disconnect
          </button>
        )}
      </span>
    </li>
  )
}
