// Connections to other services, by OAuth.

/** `GET /api/oauth`: the services that the operator has configured for connecting. */
export interface OauthList {
  providers: OauthView[]
}

export interface OauthView {
  provider: string
  label: string
  /** `reconnect`: the tokens are dead; the user has to connect again. */
  status: 'none' | 'connected' | 'reconnect'
  /** Who the user is there. */
  account: string | null
}

// `GET /api/oauth/:provider/start?purpose=login|connect&return_to=/path`: 302 to the service, and a cookie that binds the journey to this browser.
// `GET /api/oauth/:provider/callback`, with the profile dev-local `GET /auth/callback`: 302 to `return_to`, or 400 `state_unknown`, `state_mismatch`, `state_used`,
// `state_expired`, `provider_error`, 403 `not_a_user`.
// `DELETE /api/oauth/:provider`: 204, or 404 if there is no connection.
