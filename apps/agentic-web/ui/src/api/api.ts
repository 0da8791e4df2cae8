// The routes that the page uses, with the types of src/wire.
import type { AuthView, MeView } from '../../../src/wire/account.ts'
import type { OauthList } from '../../../src/wire/oauth.ts'
import type { AcceptedRun, Approval, CancelledRun, RunList, RunView } from '../../../src/wire/run.ts'
import type { FileList, SessionList, SessionView } from '../../../src/wire/session.ts'
import type { SettingsChange, SettingsView } from '../../../src/wire/settings.ts'
import { request } from './request.ts'

const id = encodeURIComponent

export const listSessions = (search: string) => request<SessionList>(`/sessions?limit=100&search=${id(search)}`)
export const createSession = () => request<SessionView>('/sessions', { method: 'POST', body: {} })
export const readSession = (sessionId: string) => request<SessionView>(`/sessions/${id(sessionId)}`)
export const deleteSession = (sessionId: string) => request<void>(`/sessions/${id(sessionId)}`, { method: 'DELETE' })

export const listRuns = (sessionId: string) => request<RunList>(`/runs?session_id=${id(sessionId)}&limit=100`)
export const readRun = (runId: string) => request<RunView>(`/runs/${id(runId)}`)
export const cancelRun = (runId: string) => request<CancelledRun>(`/runs/${id(runId)}/cancel`, { method: 'POST' })
export const decideApproval = (runId: string, stepId: string, decision: Approval['decision']) =>
  request<Approval>(`/runs/${id(runId)}/approvals/${id(stepId)}`, { method: 'POST', body: { decision } })
export const retryRun = (runId: string) => request<AcceptedRun>(`/runs/${id(runId)}/retry`, { method: 'POST' })

export const listFiles = (sessionId: string) => request<FileList>(`/sessions/${id(sessionId)}/files`)
export const fileAddress = (sessionId: string, path: string) => `/api/sessions/${id(sessionId)}/files/${path.split('/').map(id).join('/')}`

export const readMe = () => request<MeView>('/me')
export const readAuth = () => request<AuthView>('/auth')
export const signIn = (email: string, password: string) => request<MeView>('/auth/login', { method: 'POST', body: { email, password } })
export const acceptInvite = (token: string, password: string) =>
  request<MeView>('/auth/invite', { method: 'POST', body: { token, password } })
export const signOut = (everywhere: boolean) => request<void>('/auth/logout', { method: 'POST', body: { everywhere } })

export const listConnections = () => request<OauthList>('/oauth')
export const disconnect = (provider: string) => request<void>(`/oauth/${id(provider)}`, { method: 'DELETE' })
/** A link, not a request: the browser goes to the other service, and comes back here. */
export const connectAddress = (provider: string) => `/api/oauth/${id(provider)}/start?purpose=connect&return_to=${id(`/${location.hash}`)}`

export const readSettings = () => request<SettingsView>('/settings')
export const changeSettings = (body: SettingsChange, version: number) =>
  request<SettingsView>('/settings', { method: 'PATCH', body, headers: { 'If-Match': `"${version}"` } })
