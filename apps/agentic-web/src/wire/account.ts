// Who uses the app, and how one signs in.

/**
 * - `dev`: one local user, on the server's own machine only.
 * - `password`: with an address and a password.
 * - `oidc`: at another service, by OpenID Connect.
 */
export type AuthMode = 'dev' | 'password' | 'oidc'

/** `GET /api/auth`, without being signed in. */
export interface AuthView {
  mode: AuthMode
}

/** `GET /api/me`: 200, or 401 `signed_out`. */
export interface MeView {
  user_id: string
  /** Null of the local user. */
  email: string | null
  mode: AuthMode
}

/** `POST /api/auth/login`: 200 with MeView and a cookie, 401 `wrong_password`, 429 `too_many_attempts` with `Retry-After`. */
export interface SignIn {
  email: string
  password: string
}

/** `POST /api/auth/invite`, with the token of a link that works once: 200 with MeView and a cookie, 400 `invalid_link`. */
export interface AcceptInvite {
  token: string
  /** At least 10 characters. */
  password: string
}

/** `POST /api/auth/logout`: 204. */
export interface SignOut {
  /** In all browsers. */
  everywhere?: boolean
}

/** `POST /api/auth/password`: 200 with MeView and a new cookie; all other browsers are signed out. 401 `wrong_password`, 429. */
export interface ChangePassword {
  current: string
  password: string
}
